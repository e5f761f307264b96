"""A small host with a real agent, in Python alone: what the suite plays for agents is tried against it end to end.

It is the reference host with another agent. That one plays no playbooks; it asks a model service, runs tools, fetches
plugins from clients and calls the MCP servers in them, as the agents of real hosts do.
"""
