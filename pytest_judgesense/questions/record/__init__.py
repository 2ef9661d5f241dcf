"""``judgesense record``: suites recorded in shards, here or on a Ray cluster."""
