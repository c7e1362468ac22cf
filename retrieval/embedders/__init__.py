"""Text to dense vectors, one backend a file."""
