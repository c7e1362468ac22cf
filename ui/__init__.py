"""Streamlit pages over the HTTP API."""
