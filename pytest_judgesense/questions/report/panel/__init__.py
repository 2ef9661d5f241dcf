"""``judgesense report FILE... --panel``: what several judges of the same items are worth."""
