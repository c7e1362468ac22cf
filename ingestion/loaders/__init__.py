"""One loader a format family: bytes to a parsed document."""
