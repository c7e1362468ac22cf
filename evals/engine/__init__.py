"""Measurements of a model server and of the platform in front of it."""
