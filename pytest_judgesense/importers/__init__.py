"""Importers: foreign logs and benchmark files to judgment logs, one file a format."""
