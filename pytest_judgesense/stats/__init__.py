"""Statistics on arrays: numpy and scipy, and nothing else of this project."""
