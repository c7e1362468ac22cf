"""The nodes of the acting graph, one a file."""
