"""Everything between a socket and a decoded message: frames, JSON-RPC, transports, transcripts.

Nothing here knows AHP. Single-threaded and non-blocking: a `Pump` runs all connections of a scenario.
"""
