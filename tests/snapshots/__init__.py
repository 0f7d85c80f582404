"""Generated text held against the text that was reviewed."""
