"""Tests of the chat UI."""
