"""Tests of data sets, metrics and the retrieval evaluation."""
