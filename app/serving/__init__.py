"""Model servers that people start: which command line, in which environment, on which machine, and whether it fits."""
