"""Bytes to documents to chunks to the store, with a ledger of what is in."""
