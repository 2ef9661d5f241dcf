"""The datasheet: one value, several renderings."""
