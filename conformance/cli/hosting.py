"""``host``: the reference host by itself."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import ERROR, USAGE, app, stop


@app.command()
def host(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    protocol: Annotated[list[str] | None, typer.Option(help="A version that it speaks; may be repeated.")] = None,
    fault: Annotated[list[str] | None, typer.Option(help="A way in which it misbehaves; may be repeated.")] = None,
    list_faults: Annotated[
        bool, typer.Option("--list-faults", help="Show the faults with the obligations they break.")
    ] = False,
) -> None:
    """Run the reference host on loopback until it is ended; the first line says where it listens."""
    from conformance.drivers import TargetError
    from conformance.drivers.reference import reference_host
    from conformance.host import HostServer
    from conformance.host.faults import FAULTS

    if list_faults:
        for each in FAULTS.values():
            typer.echo(f"{each.name}  {each.obligation}  {each.doc}")
        return
    try:
        server = HostServer(reference_host(versions=tuple(protocol or ()), faults=tuple(fault or ())), port)
    except TargetError as error:
        stop(str(error), USAGE)
    try:
        server.run_forever(lambda url: typer.echo(f"ready {url}"))
    except OSError as error:
        stop(f"cannot listen on port {port}: {error.strerror or error}; choose another one with --port", ERROR)
