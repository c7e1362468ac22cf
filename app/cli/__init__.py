"""The groundwork command line, one command group a file."""
