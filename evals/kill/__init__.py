"""Kills the API at random moments on the approval path, and counts effects and decisions afterwards."""
