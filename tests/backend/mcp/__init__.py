"""The MCP servers that the suite plays, judged by the official client and by plain HTTP."""
