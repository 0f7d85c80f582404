"""The law of verdicts once more, in plain Python that shares nothing with the compiler.

Rows in; verdict, reason and causes of each member out: `evaluation.py`, or `groups.py` where groups are members.
"""
