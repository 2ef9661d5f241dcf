"""Long inputs: is a passage found wherever it stands in a record, and not seen where it is not?"""
