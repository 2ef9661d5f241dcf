"""The embedded judge: a psychometric observer that replies over real HTTP."""
