"""One clause per file: a function from statement and contract to an objection, or nothing."""
