"""Tools of MCP servers: configuration, one connection a server, and the adapter to our tools."""
