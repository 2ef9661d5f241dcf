"""Files that users name: what is read of them, within limits, and how they are written."""
