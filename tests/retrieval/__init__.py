"""Tests of embedders, stores, the lexical leg, fusion and search."""
