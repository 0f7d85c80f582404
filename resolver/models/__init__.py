"""Proposers, behind the port in `resolver/candidates.py`: words alone, a model's server, a recording."""
