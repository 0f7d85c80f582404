"""Proofs on generated data: what a monitor's plans say of data sets full of trouble, held against the oracle."""
