"""Asking judges, carrying answers over, where a recording was stopped, and its proof."""
