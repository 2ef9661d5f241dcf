"""The command line ``judgesense``: a module for each subcommand, with its arguments and its action.

Exit codes: 0 fine, 1 a bar failed, 2 the command was wrong, 3 a file or an endpoint was broken.
"""
