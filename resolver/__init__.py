"""Questions: from a person's words to an answer whose every figure is grounded, or to a refusal that says why.

`pipeline.py` is the file to read first.
"""
