"""One module at a time, nothing but memory."""
