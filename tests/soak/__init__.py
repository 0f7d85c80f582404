"""The soak: daemons on both stores, a random fault every two seconds, and what must hold afterwards."""
