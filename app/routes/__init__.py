"""HTTP routes, one resource a file."""
