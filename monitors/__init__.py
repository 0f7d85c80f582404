"""What a monitor is: its definition, its checking against the contract, and the evaluation record."""
