"""The datasheet as a value, and what instruments add to it: sections, figures, designs."""
