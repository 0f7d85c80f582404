"""Getting data in: files of the workspace become raw tables, and governed views over them.

Everything is built into one DuckDB file that nobody reads yet, and published by name, so that a
reader sees the whole of the last ingest or the whole of this one.
"""
