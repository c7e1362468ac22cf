"""The nodes of the answer graph, one a file."""
