"""A judge served at 127.0.0.1: the embedded one, or a language model, which is fetched first."""
