"""Question banks, their runner, scoring, and an independent auditor; a later part of the project fills it."""
