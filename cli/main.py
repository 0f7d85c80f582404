"""The `trivet` command: the group, its commands, and how every ending becomes an exit code."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from cli.invocation import Invocation
from cli.lazy import LazyCommands
from trivet import __version__
from trivet.errors import InputError, TrivetError, UsageError
from trivet.exits import Exit
from trivet.logs import LEVELS, LogForm, set_up_logs

_COMPLETE = "_TRIVET_COMPLETE"
_COMMANDS = LazyCommands(
    {
        "alerts": "cli.alerts:alerts",
        "apply": "cli.apply:apply",
        "ask": "cli.ask:ask",
        "beat": "cli.production:beat",
        "check": "cli.check:check",
        "contract": "cli.contract:contract",
        "db": "cli.db:db",
        "demo": "cli.demo:demo",
        "doctor": "cli.doctor:doctor",
        "evals": "cli.evals:evals",
        "evaluate": "cli.evaluate:evaluate",
        "ingest": "cli.ingest:ingest",
        "init": "cli.init:init",
        "ledger": "cli.ledger:ledger",
        "monitors": "cli.monitors:monitors",
        "referee": "cli.referee:referee",
        "run": "cli.run:run_daemon",
        "schema": "cli.schema:schema",
        "settings": "cli.settings:settings",
        "serve": "cli.serve:serve",
        "stack": "cli.stack:stack",
        "worker": "cli.production:worker",
    }
)


@click.group(commands=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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


def main() -> None:
    """Entry point of the console script."""
    # Statements are trees of many small objects that live long: collecting by the default took a sixth of a demo.
    gc.set_threshold(50_000, 20, 50)
    if _COMPLETE in os.environ:
        # A shell asks how a line goes on; Click answers and ends.
        trivet.main(prog_name="trivet", complete_var=_COMPLETE)
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command and gives its exit code; no exception leaves."""
    invocation = Invocation()
    # Known before the arguments are parsed, so that a fault in them is a document too.
    invocation.output.as_json = "--json" in arguments
    try:
        _set_up_logging()
        result = _invoke(arguments, invocation)
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


def _invoke(arguments: Sequence[str], invocation: Invocation) -> int | None:
    # As `trivet.main` does, which would end the program wherever a pipe breaks, with the code of a breach.
    try:
        with trivet.make_context("trivet", list(arguments), obj=invocation) as context:
            result: int | None = trivet.invoke(context)
            return result
    except BrokenPipeError:
        if invocation.has_begun:
            raise
        # Commands write through `Output`, which outlives its reader; Click's help does not.
        invocation.output.let_go()
        return None


def _set_up_logging() -> None:
    level, form = os.environ.get("TRIVET_LOG", "WARNING"), os.environ.get("TRIVET_LOG_FORM")
    if level.upper() not in LEVELS:
        raise UsageError(f"TRIVET_LOG: '{level}' is no level; use one of {', '.join(LEVELS)}")
    if form is not None and form not in list(LogForm):
        raise UsageError(f"TRIVET_LOG_FORM: '{form}' is no form; use one of {', '.join(LogForm)}")
    set_up_logs(sys.stderr, level.upper(), LogForm(form) if form else None)


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
