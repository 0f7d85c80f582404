"""Warehouse engines behind one port: they run certified queries, and nothing else."""
