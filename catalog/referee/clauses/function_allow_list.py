"""Clause `function_allow_list`: typed functions by class. No clocks, no randomness, no files, no tables."""

from __future__ import annotations

import re

from sqlglot import exp

from catalog.contract import Contract
from catalog.referee.certified import Clause, Purpose
from catalog.referee.clauses.node_allow_list import NODES, is_gathered
from catalog.referee.statement import Objection, Statement

MONITOR_FUNCTIONS = frozenset(
    {
        exp.Abs, exp.Chr, exp.Coalesce, exp.Contains, exp.Count, exp.CountIf, exp.DateDiff, exp.DateTrunc,
        exp.EndsWith, exp.Explode, exp.Extract, exp.Format, exp.GenerateSeries, exp.GroupConcat, exp.Left, exp.Length,
        exp.Max, exp.Min, exp.Nullif, exp.PercentileDisc, exp.RegexpExtract, exp.RegexpFullMatch, exp.Repeat,
        exp.Replace, exp.Right, exp.StartsWith, exp.Substring, exp.Sum, exp.TimestampTrunc, exp.Translate, exp.Trim,
    }
)  # fmt: skip
"""What compiled SQL calls."""

# None of them makes text longer than what it is given, and none depends on the order of rows that tie.
_AGGREGATES = {
    exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.PercentileCont, exp.PercentileDisc,
    exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Corr, exp.LogicalAnd, exp.LogicalOr,
}  # fmt: skip
_NUMBERS = {
    exp.Abs, exp.Ceil, exp.Floor, exp.Round, exp.Trunc, exp.Sign, exp.Sqrt, exp.Pow, exp.Ln, exp.Log, exp.Exp,
    exp.Greatest, exp.Least, exp.IsNan, exp.IsInf,
}  # fmt: skip
_DATES = {
    exp.Extract, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.DayOfWeek, exp.DayOfWeekIso, exp.DayOfYear,
    exp.DateTrunc, exp.TimestampTrunc, exp.DateDiff, exp.DateAdd, exp.DateSub, exp.LastDay, exp.Monthname, exp.Dayname,
    exp.DateFromParts, exp.Date, exp.TimeToStr,
}  # fmt: skip
_TEXTS = {
    exp.Lower, exp.Upper, exp.Trim, exp.Length, exp.Left, exp.Right, exp.Substring, exp.Concat, exp.ConcatWs,
    exp.StartsWith, exp.EndsWith, exp.Contains, exp.StrPosition, exp.SplitPart,
}  # fmt: skip
_CHOICES = {exp.Coalesce, exp.Nullif}
_WINDOWS = {
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag, exp.Lead,
    exp.FirstValue, exp.LastValue,
}  # fmt: skip
_MONITOR_ONLY = {exp.Explode, exp.GenerateSeries}
MONITOR_NAMES = frozenset({"FSUM"})
"""Functions that compiled SQL calls and that sqlglot has no class for."""
QUESTION_FUNCTIONS = (MONITOR_FUNCTIONS - _MONITOR_ONLY) | frozenset(
    _AGGREGATES | _NUMBERS | _DATES | _TEXTS | _CHOICES | _WINDOWS
)
"""What a question may call: all of those, since some questions are compiled too, and what people ask with."""

_SCAN_FUNCTIONS = frozenset(
    {
        exp.ArrayAgg, exp.ArrayContains, exp.Contains, exp.Explode, exp.Least, exp.LogicalOr, exp.StartsWith,
        exp.Struct, exp.StructExtract,
    }
)  # fmt: skip
"""What one pass over a view calls beside those: it folds linked rows, and gathers rows as records."""

FUNCTIONS = {
    Purpose.MONITOR: MONITOR_FUNCTIONS | _SCAN_FUNCTIONS,
    Purpose.QUESTION: QUESTION_FUNCTIONS,
    Purpose.ACCOUNT: QUESTION_FUNCTIONS,
}

_CLOCK = "a literal date, since an answer must stay the same when it is asked again"
_INSTEAD = {
    "MEAN": "AVG", "DATE_PART": "EXTRACT(part FROM value)", "WEEKDAY": "DAYOFWEEK", "NOW": _CLOCK, "TODAY": _CLOCK,
    "CURRENT_DATE": _CLOCK, "CURRENT_TIMESTAMP": _CLOCK, "CURRENT_TIME": _CLOCK, "GETDATE": _CLOCK,
    "APPROX_DISTINCT": "COUNT(DISTINCT value)", "REGEXP_LIKE": "LIKE or ILIKE",
}  # fmt: skip

LONGEST_REPEAT = 1000
LONGEST_TIME_FORMAT = 50
_FORMAT = re.compile(r"\{:\.[0-9]{1,2}[ef]\}")


def function_allow_list(statement: Statement, contract: Contract) -> Objection | None:
    """Every function is one of the list; anonymous functions are refused since nobody knows what they do."""
    allowed = FUNCTIONS[statement.purpose] | NODES[statement.purpose]
    for node in statement.find_all(exp.Func):
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        if isinstance(node, exp.Anonymous) and statement.purpose is Purpose.MONITOR and name in MONITOR_NAMES:
            continue
        if type(node) not in allowed:
            message = f"function '{name}' is not on the list"
        elif not _is_in_place(node):
            message = f"function '{name}' has no place there"
        elif not _is_bounded(node, statement.purpose):
            message = f"function '{name}' is allowed only with short literals, since it makes text of any length"
        else:
            continue
        suggestion = _INSTEAD.get(name.upper()) if statement.purpose.is_asked else None
        return statement.objection(Clause.FUNCTION_ALLOW_LIST, message, node, suggestion=suggestion)
    return None


def _is_in_place(node: exp.Func) -> bool:
    """Whether lists and records are used as one pass over a view uses them, and as nothing else."""
    match node:
        case exp.ArrayAgg():
            return is_gathered(node.this) or isinstance(node.this, exp.Distinct)
        case exp.Struct():
            return is_gathered(node)
        case exp.Explode():
            return isinstance(node.this, exp.Column | exp.GenerateSeries)
        case exp.StructExtract():
            return isinstance(node.this, exp.Column)
    return True


def _is_bounded(node: exp.Func, purpose: Purpose) -> bool:
    match node:
        case exp.Repeat():
            text, times = node.this, node.args["times"]
            literals = isinstance(text, exp.Literal) and isinstance(times, exp.Literal) and times.is_int
            return literals and len(text.name) * int(times.name) <= LONGEST_REPEAT
        case exp.GenerateSeries():
            return _is_calendar(node)
        case exp.Format():
            return isinstance(node.this, exp.Literal) and _FORMAT.fullmatch(node.this.name) is not None
        case exp.Replace() if purpose.is_asked:
            old, new = node.expression, node.args.get("replacement")
            return isinstance(old, exp.Literal) and isinstance(new, exp.Literal) and len(new.name) <= len(old.name)
        case exp.TimeToStr():
            pattern = node.args.get("format")
            return isinstance(pattern, exp.Literal) and len(pattern.name) <= LONGEST_TIME_FORMAT
    return True


def _is_calendar(series: exp.GenerateSeries) -> bool:
    """Whether a series is of calendar days at least one apart, of which there are fewer than four million."""
    ends, step = (series.args["start"], series.args["end"]), series.args.get("step")
    if not all(isinstance(end, exp.Cast) and end.is_type("date") and isinstance(end.this, exp.Literal) for end in ends):
        return False
    if not isinstance(step, exp.Interval) or not isinstance(step.this, exp.Literal):
        return False
    return step.this.name in ("1", "3") and str(step.args.get("unit")).upper() in ("DAY", "WEEK", "MONTH", "YEAR")
