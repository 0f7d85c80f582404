"""Whether a question asks to change something or to reach beyond the data, judged by its shape before anything runs.

A forbidden word alone is no offence: `did pay drop in July` is a question. What is refused is a
command: a verb of change in the place of an imperative, with something of the data as its object;
SQL that writes; and what names files or the system.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


class UnsafeKind(StrEnum):
    """What kind of request it is."""

    MUTATION = "mutation"
    SQL = "sql"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class UnsafeRequest:
    """Why a question is not looked at any further."""

    kind: UnsafeKind
    text: str
    """The offending part, from the question as it is judged."""


_HARD = "delete|erase|purge|wipe|truncate|destroy|overwrite|nuke|obliterate"
_SOFT = (
    "drop|remove|clear|update|alter|change|modify|edit|insert|add|append|create|grant|revoke|replace|rename|merge|"
    "attach|detach|load|install|import|restore|rewrite|falsify|backdate|reset|disable"
)
_DATA = (
    "tables?|rows?|records?|columns?|entries|entry|views?|schemas?|databases?|data|dataset|warehouse|store|ledger|audit|"
    "index(?:es)?|contracts?|monitors?|logs?|history|users?|roles?|permissions?|extensions?|values?|everything"
)
_SOFT_DATA = (
    "tables?|rows?|records?|columns?|views?|schemas?|databases?|dataset|warehouse|ledger|index(?:es)?|monitors?|"
    "logs?|users?|roles?|permissions?|extensions?"
)
_POLITE = (
    r"(?:(?:please|kindly|now|then|also|first|next|just|simply|finally|instead|and|or|but|so|ok|okay|hey|"
    r"(?:can|could|would|will) you|you (?:must|should|will|may|can)|i (?:want|need|order) you to|i'd like you to|"
    r"go ahead and|make sure (?:to|you)|be sure to|let's|let us|try to|want to)[\s,:]+)*"
)
# Where a command may begin: at the start, behind punctuation, or behind a word that joins sentences.
_START = rf"(?:^|[.;!?:,\n(\"'`]\s*|--+\s*|\b(?:and|then|also|or|but|please|to)\s+){_POLITE}"
# `update me on`, `drop in records`, `change of rows`: the words that make a noun or an errand of the verb.
_NOT_A_COMMAND = (
    r"(?!\s+(?:me|us|in|of|on|off|up|to|by|from|between|since|was|were|is|are|has|rate|rates|date|dates)\b)"
)

_SQL_SHAPES = (
    r"\b(?:drop|truncate|alter|create)\s+(?:or\s+replace\s+)?(?:temp\w*\s+)?(?:table|view|schema|database|index|macro|"
    r"function|sequence|type|user|role|column)\b(?:\s+if\b)?\s+[\w.\"]+\s*(?:;|$|\(|as\b|add\b|drop\b|rename\b|cascade\b)",
    r"\bdelete\s+from\s+[\w.\"]+(?:\s+where\b|\s*;|\s*$)",
    r"\binsert\s+into\s+[\w.\"]+\s*(?:\(|values\b|select\b)",
    r"\bupdate\s+[\w.\"]+\s+set\b",
    r"\bmerge\s+into\b",
    r"\bunion\s+(?:all\s+)?select\b",
    r";\s*(?:drop|delete|truncate|alter|update|insert|create|attach|copy|pragma|install|load|set|call)\b",
    r"\bcopy\b.+\bto\s+['\"]",
    r"\battach\s+(?:database\s+)?['\"]",
    r"\bor\s+['\"]?1['\"]?\s*=\s*['\"]?1\b",
)
_SYSTEM_SHAPES = (
    r"\b(?:read_csv\w*|read_blob|read_text|read_parquet|read_json\w*|glob|getenv|duckdb_\w+|pragma_\w+|information_schema"
    r"|sqlite_(?:master|schema)|pg_catalog|xp_cmdshell)\b",
    r"\bpragma\s+\w+",
    r"^\s*vacuum\b",
    r"(?:^|[\s'\"(=])(?:~|\.{1,2})?/(?:[\w.-]+/)+[\w.-]*",
    r"(?:^|[\s'\"(=])(?:/etc/|~/|[a-z]:\\|\\\\)",
    r"\b(?:file|s3|gs|https?|ftp)://",
    r"(?:^|[\s'\"/])\.(?:env|ssh|bashrc|netrc|pgpass|git)\b",
    r"\benvironment variables?\b",
    rf"{_START}(?:run|execute|open|start|spawn)\s+(?:a\s+|the\s+|this\s+)?(?:shell|bash|command|script|process|program|terminal)\b",
    rf"{_START}(?:copy|export|save|write|dump|download|upload|send|email|mail|post)\b.{{0,80}}?\b(?:to|into|as)\s+(?:an?\s+|the\s+|my\s+)?"
    r"(?:\w+\s+)?(?:file|disk|csv|json|parquet|folder|directory|bucket|desktop|server|url|webhook|[\w.-]+\.(?:csv|json|parquet|xlsx|txt|db|duckdb)\b|[\w.-]+@[\w.-]+)",
)


def check_intent(plain: str, nouns: Collection[str] = ()) -> UnsafeRequest | None:
    """The first unsafe shape in a question, if there is one.

    Args:
        plain: the question as `plain_text` gives it.
        nouns: what the contract calls its rows, such as `employee`; they can be objects of deletion too.
    """
    text = plain.lower()
    for kind, patterns in _shapes(nouns):
        for pattern in patterns:
            if (found := re.search(pattern, text)) is not None:
                return UnsafeRequest(kind, found[0].strip(" .;!?:,"))
    return None


def _shapes(nouns: Collection[str]) -> tuple[tuple[UnsafeKind, tuple[str, ...]], ...]:
    own = "".join(f"|{re.escape(noun.lower())}s?" for noun in sorted(nouns))
    between = r"(?:\s+[\w.'%-]+){0,6}?\s+"
    mutations = (
        rf"{_START}(?:{_HARD}){_NOT_A_COMMAND}{between}(?:{_DATA}{own})\b",
        rf"{_START}(?:{_HARD})\s+[a-z]+[0-9]+\b",
        rf"{_START}(?:{_SOFT}){_NOT_A_COMMAND}(?:\s+[\w.'%-]+){{0,4}}?\s+(?:{_SOFT_DATA})\b",
        rf"{_START}(?:get rid of|do away with)\s+.*?(?:{_DATA}{own})\b",
        rf"{_START}(?:grant|give)\s+(?:[\w.@'-]+\s+){{0,4}}?(?:admin|write|full|root|steward)\s+(?:role|access|rights?)\b",
        # A new value: `set the rate of E1012 to 40`, `raise everyone's hourly rate by 5 percent`.
        rf"{_START}(?:set|change|update|raise|increase|lower|reduce|adjust|fix|correct|edit|modify)\s+(?!me\b|us\b)[^?]*?"
        r"\b(?:to|by)\s+(?:\$?\d|null\b|zero\b|'|\")[^?]*$",
        rf"{_START}(?:approve|silence|acknowledge|resolve|pause|disable|mark)\s+(?:all\s+|every\s+|the\s+)*"
        rf"(?:{_SOFT_DATA}|alerts?|breach(?:es)?|escalations?)\b",
    )
    return (
        (UnsafeKind.SQL, _SQL_SHAPES),
        (UnsafeKind.SYSTEM, _SYSTEM_SHAPES),
        (UnsafeKind.MUTATION, mutations),
    )
