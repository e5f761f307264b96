"""Judging recorded traffic with the oracle alone."""
