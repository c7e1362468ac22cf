"""One module per change of the schema, in order of their numbers."""
