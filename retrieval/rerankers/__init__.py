"""Second looks at the best candidates, all behind one protocol."""
