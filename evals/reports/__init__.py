"""Reports of evaluations for people: Markdown, and HTML that needs no other file and no network."""
