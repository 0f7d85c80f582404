"""Ways to tell someone: a port, its fake, and one file for each kind of receiver."""
