"""The program as its users meet it: commands, exit codes, JSON."""
