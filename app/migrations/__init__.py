"""Schema of the database, one module per change."""
