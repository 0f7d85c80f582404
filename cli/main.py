"""The `trivet` command: the group, its commands, and how every ending becomes an exit code."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from cli.alerts import alerts
from cli.ask import ask
from cli.check import check
from cli.db import db
from cli.demo import demo
from cli.doctor import doctor
from cli.evals import evals
from cli.evaluate import evaluate
from cli.ingest import ingest
from cli.init import init
from cli.invocation import Invocation
from cli.ledger import ledger
from cli.monitors import monitors
from cli.production import beat, worker
from cli.referee import referee
from cli.run import run_daemon
from cli.schema import schema
from cli.settings import settings
from trivet import __version__
from trivet.errors import InputError, TrivetError, UsageError
from trivet.exits import Exit

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "-C",
    "directory",
    type=click.Path(path_type=Path),
    help="The workspace (else TRIVET_WORKSPACE, else here).",
)
@click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")
@click.version_option(__version__, prog_name="trivet")
@click.pass_context
def trivet(context: click.Context, directory: Path | None, as_json: bool) -> None:
    """Watches governed data, and never lets something missing look fine."""
    invocation = context.ensure_object(Invocation)
    invocation.directory = directory
    invocation.output.as_json |= as_json


for _command in (demo, init, check, ingest, monitors, evaluate, ledger, db, schema, settings, doctor):
    trivet.add_command(_command)
trivet.add_command(alerts)
for _command in (run_daemon, beat, worker):
    trivet.add_command(_command)
trivet.add_command(referee)
trivet.add_command(ask)
trivet.add_command(evals)


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command and gives its exit code; no exception leaves."""
    invocation = Invocation()
    # Known before the arguments are parsed, so that a fault in them is a document too.
    invocation.output.as_json = "--json" in arguments
    try:
        _set_up_logging()
        result = trivet.main(args=list(arguments), prog_name="trivet", standalone_mode=False, obj=invocation)
        invocation.output.flush()
        return int(result or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        return _end(invocation, Exit.USAGE, error.format_message())
    except click.UsageError as error:
        hint = f"; see `{error.ctx.command_path} --help`" if error.ctx else ""
        return _end(invocation, Exit.USAGE, f"{error.format_message().removesuffix('.')}{hint}")
    except click.ClickException as error:
        return _end(invocation, Exit.USAGE, error.format_message())
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        invocation.output.complain("stopped")
        return 130
    except TrivetError as error:
        return _end(invocation, error.exit_code, str(error), error)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _end(invocation, Exit.UNAVAILABLE, f"{place}{error.strerror or error}")
    except Exception as error:
        if os.environ.get("TRIVET_DEBUG"):
            traceback.print_exc()
        message = f"fault in Trivet: {type(error).__name__}: {error}; TRIVET_DEBUG=1 shows where"
        return _end(invocation, Exit.FAULT, message)


def _set_up_logging() -> None:
    level = os.environ.get("TRIVET_LOG", "WARNING")
    if level.upper() not in _LEVELS:
        raise UsageError(f"TRIVET_LOG: '{level}' is no level; use one of {', '.join(_LEVELS)}")
    logging.basicConfig(stream=sys.stderr, level=level.upper())


def _end(invocation: Invocation, code: Exit, message: str, error: TrivetError | None = None) -> int:
    findings = error.findings if isinstance(error, InputError) else ()
    fault = {
        "exit_code": int(code),
        "message": message,
        "findings": [item.to_json() for item in findings],
    }
    try:
        if invocation.output.as_json:
            invocation.output.document({"error": fault})
        invocation.output.flush()
    except OSError:
        # It may be standard output that failed; Python would complain again while closing it.
        invocation.output.let_go()
    invocation.output.complain(message)
    if len(findings) > 1:
        invocation.output.complain(f"{len(findings)} faults; nothing was changed")
    return code
