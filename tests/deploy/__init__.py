"""Tests of compose file, image and profiles."""
