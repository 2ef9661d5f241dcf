"""A first judge, a first suite and a workflow, written into the repository of a project."""
