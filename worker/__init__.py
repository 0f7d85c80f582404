"""The daemon: due slots, the one `evaluate`, its runners, the stores they write, and the wiring."""
