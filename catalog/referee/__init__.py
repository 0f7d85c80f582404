"""The referee: deterministic, reads only the contract and the statement, and owns the decision."""
