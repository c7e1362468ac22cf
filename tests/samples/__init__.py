"""Tests of the sample handbook and its questions."""
