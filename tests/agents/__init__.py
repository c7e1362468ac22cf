"""Tests of the agent layer."""
