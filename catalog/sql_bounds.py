"""How deep a SQL text may nest before it is handed to the parser.

The compiled parser recurses on the machine's stack: thousands of open parentheses end the process,
and no exception tells of it. Tokens are read without recursion, so the depth is known beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import tokenize
from sqlglot.tokenizer_core import Token, TokenType

DEEPEST = 250
"""Open parentheses, brackets, CASEs and prefix operators at one place. Compiled monitors stay far below."""
MOST_TOKENS = 200_000

_OPENS = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSES = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})
_PREFIXES = frozenset({TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE})


def beyond_bounds(text: str, dialect: str) -> str | None:
    """Why a text is too deep or too long to be parsed; None if it is not.

    Raises:
        sqlglot.errors.TokenError: the text has no tokens.
    """
    return tokens_beyond_bounds(tokenize(text, read=dialect))


def tokens_beyond_bounds(tokens: Sequence[Token]) -> str | None:
    """The same of a text whose tokens were read already."""
    if len(tokens) > MOST_TOKENS:
        return f"it has {len(tokens):,} words and signs; {MOST_TOKENS:,} are read at most"
    if _deepest(tokens) > DEEPEST:
        return "it is nested too deeply to be checked"
    return None


def _deepest(tokens: Sequence[Token]) -> int:
    depth = run = casts = deepest = 0
    for token in tokens:
        kind = token.token_type
        if kind in _OPENS:
            depth += 1
        elif kind in _CLOSES:
            depth = max(depth - 1, 0)
        run = run + 1 if kind in _PREFIXES else 0
        # `a::INT::INT` nests as parentheses do, and the names between its signs do not end it.
        casts = 0 if kind is TokenType.COMMA else casts + (kind is TokenType.DCOLON)
        deepest = max(deepest, depth + run + casts)
    return deepest
