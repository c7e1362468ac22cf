"""Process, HTTP, wiring."""
