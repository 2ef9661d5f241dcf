"""For all tests: what has to be loaded before any test is collected."""

pytest_plugins = ["pytester"]
