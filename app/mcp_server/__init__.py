"""Groundwork as an MCP server: search, ask and documents for any MCP client, read only."""
