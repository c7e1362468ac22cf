"""Tests of model servers that people start."""
