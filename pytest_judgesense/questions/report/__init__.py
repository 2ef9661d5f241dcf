"""``judgesense report``: what there is of judges, in logs, datasheets and histories."""
