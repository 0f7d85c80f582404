"""What Trivet costs, measured: `make bench`."""
