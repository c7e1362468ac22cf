"""Tests of the loaders, one module a family."""
