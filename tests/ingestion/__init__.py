"""Tests of the ingestion layer."""
