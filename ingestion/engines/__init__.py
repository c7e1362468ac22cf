"""Where the heavy stages of an ingest run: in processes of this machine, or on a Ray cluster."""
