"""The expression language of monitors and metrics: syntax, tree, types, printing. It is not SQL."""
