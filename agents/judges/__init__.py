"""Second opinions on claims that the proof let through."""
