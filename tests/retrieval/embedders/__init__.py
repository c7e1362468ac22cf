"""Tests of the embedders beyond their contract."""
