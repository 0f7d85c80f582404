"""Definition to plan to SQL: the breach query, its complement the no_data query, and the population query."""
