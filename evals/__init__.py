"""Question banks, their runner, and scoring that shows every rate with its counts and beside refusing everything.

`runner.py` is the file to read first.
"""
