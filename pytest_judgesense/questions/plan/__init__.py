"""``judgesense plan [SUITE...]``: before a cent is spent, calls, price and chances of suites."""
