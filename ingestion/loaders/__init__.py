"""Bytes of one file to a parsed document; one module a format family, one function each."""
