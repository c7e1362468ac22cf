"""Where indexed chunks live: Qdrant in process or by URL."""
