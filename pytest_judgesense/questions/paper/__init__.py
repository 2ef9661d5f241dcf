"""The design of a published paper on any judges, with its tables; and more items for it."""
