"""Tests of the stores beyond their contract."""
