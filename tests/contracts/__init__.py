"""One suite a seam, run over every implementation."""
