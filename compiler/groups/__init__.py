"""Grouped monitors: relations of groups, on which the queries stand as they stand on rows elsewhere."""
