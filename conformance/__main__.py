"""``python -m conformance`` is the command ``ahp-conformance``."""

from conformance.cli import main

main()
