"""The `trivet` command with a fault in it: it ends, stops or dawdles at a named point of an evaluation."""

from __future__ import annotations

from pathlib import Path

POINTS = {
    "before it claims": "before('worker.runtime', 'claim')",
    "after it claimed": "before('worker.evaluate', 'batches')",
    "in the middle of a query": "before('catalog.engines.duckdb_engine:DuckDBSnapshot', 'stream')",
    "between the rows and the ledger entry": "before('worker.recording', 'append_all')",
    "before it commits": "after('worker.evaluate', 'record_all')",
    "after it committed": "before('worker.evaluate', 'tell')",
}
"""Where an evaluation can be cut short, and the fault that does it."""
STOPPED = "stopped('worker.evaluate', 'finish')"
"""SIGSTOP, before the result is recorded."""


def poison(monitor: str) -> str:
    """Ends the process whenever a monitor is judged, with whatever is judged beside it."""
    return f"poison({monitor!r})"


def dawdling(seconds: float) -> str:
    """Each judging takes that much longer."""
    return f"dawdling({seconds})"


def entry(fault: str, once: Path | None = None) -> str:
    """A program that is `trivet` with a fault in it.

    Args:
        fault: calls of the functions of this module's own program.
        once: a file that is made by whatever process the fault befalls first; it befalls no other.
    """
    return _PROGRAM.replace("{once}", repr(None if once is None else str(once))).replace("{fault}", fault)


_PROGRAM = """\
import importlib, os, signal, sys, time

ONCE = {once}

def befalls(once):
    if once is None:
        return True
    try:
        os.close(os.open(once, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True

def end(number, once=ONCE):
    if befalls(once):
        os.kill(os.getpid(), number)

def wrapped(where, name, make):
    module, _, inside = where.partition(":")
    owner = importlib.import_module(module)
    owner = getattr(owner, inside) if inside else owner
    setattr(owner, name, make(getattr(owner, name)))

def at(where, name, number, late, once=ONCE):
    def make(real):
        def wrapper(*given, **named):
            if not late:
                end(number, once)
            made = real(*given, **named)
            if late:
                end(number, once)
            return made
        return wrapper
    wrapped(where, name, make)

def before(where, name, once=ONCE):
    at(where, name, signal.SIGKILL, late=False, once=once)

def after(where, name, once=ONCE):
    at(where, name, signal.SIGKILL, late=True, once=once)

def stopped(where, name):
    at(where, name, signal.SIGSTOP, late=False)

def judging(strike):
    def make(real):
        def judge_many(due, *given, **named):
            strike([definition.id for definition, _ in due])
            return real(due, *given, **named)
        return judge_many
    wrapped("worker.evaluate", "judge_many", make)

def poison(monitor):
    judging(lambda due: monitor in due and end(signal.SIGKILL))

def dawdling(seconds):
    judging(lambda due: time.sleep(seconds))

def broker(**options):
    def make(real):
        def conf(*given):
            made = dict(real(*given))
            made["broker_transport_options"] = {**made["broker_transport_options"], **options}
            return made
        return conf
    wrapped("worker.app", "_conf", make)

def counted(where, name, file):
    def make(real):
        def wrapper(*given, **named):
            with open(file, "a") as log:
                log.write(f"{given[1:]!r}\\n")
            return real(*given, **named)
        return wrapper
    wrapped(where, name, make)

{fault}
from cli.main import main
sys.argv[0] = "trivet"
main()
"""
