"""Tests of the tool layer."""
