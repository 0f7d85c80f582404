"""`trivet serve`: health and metrics over HTTP, in a process of their own."""

from __future__ import annotations

import click

from api.app import make_http_app
from api.server import listen, serving
from cli.invocation import Invocation, command
from cli.run import announce, stop_signal
from trivet.exits import Exit


@click.command()
@command
def serve(invocation: Invocation) -> int:
    """Serve health and metrics from the store, until stopped; `trivet run` does so by itself."""
    wiring = invocation.wiring()
    app = make_http_app(wiring, None)
    listening = listen(wiring.settings.api.host, wiring.settings.api.port)
    stop = stop_signal()
    with serving(app, listening):
        announce(invocation, listening)
        invocation.output.flush()
        # A signal may be delivered to another thread than this one; its handler runs once this one looks.
        while not stop.wait(1.0):
            pass
    return Exit.FINE
