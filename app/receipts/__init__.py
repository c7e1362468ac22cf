"""Receipts: an answer as one file that can be checked without trusting whoever hands it over."""
