"""Decide, ground, answer."""
