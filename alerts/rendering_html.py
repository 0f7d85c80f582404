"""A message as HTML mail: the lines of `alerts/rendering.py`, escaped whole, in marks that every mail program knows.

No style sheet, no picture, no script and nothing that is fetched: what is shown is what was sent. The one link is the
monitor's own runbook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby

from alerts.gathered import is_fine
from alerts.message import Message
from alerts.rendering import lines, subject
from alerts.rendering_digest import ITEM
from alerts.wording import inactive, visible
from trivet.verdicts import Severity

_COLOURS = {Severity.CRITICAL: "#b00020", Severity.WARNING: "#8a5a00", Severity.INFO: "#1558b0"}
_OVER = "#1b6e36"
_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title></head>
<body style="margin:0;padding:16px;font:16px/1.5 system-ui,sans-serif;color:#1c1c1c;background:#ffffff">
<div style="max-width:44em;margin:auto;border-left:4px solid {colour};padding-left:14px">
<h1 style="font-size:1.15em;line-height:1.3;margin:0 0 .5em;color:{colour}">{title}</h1>
{body}
</div></body></html>
"""


def html(message: Message) -> str:
    """The message as a page of its own."""
    colour = _OVER if is_fine(message) else _COLOURS[message.severity]
    found = list(lines(message, inactive))
    # The badge, or what the message is about, is read first.
    first = f'<p style="font-size:1.1em;margin:.3em 0"><strong>{escape(found[0])}</strong></p>'
    rest = _blocks(found[1:], f"Runbook: {visible(message.runbook)}" if message.runbook else None)
    return _PAGE.format(title=escape(subject(message)), colour=colour, body="\n".join([first, *rest]))


def _blocks(found: Iterable[str], runbook: str | None) -> Iterator[str]:
    groups = [(is_item, list(group)) for is_item, group in groupby(found, lambda line: line.startswith(ITEM))]
    for number, (is_item, group) in enumerate(groups):
        if is_item:
            items = "".join(f"<li>{escape(line.removeprefix(ITEM))}</li>" for line in group)
            yield f'<ul style="margin:.2em 0;padding-left:1.2em">{items}</ul>'
            continue
        heading = group.pop() if number + 1 < len(groups) else None
        yield from (_paragraph(line, runbook) for line in group if line)
        if heading is not None:
            yield f'<p style="margin:.8em 0 .2em"><strong>{escape(heading)}</strong></p>'


def _paragraph(line: str, runbook: str | None) -> str:
    text = escape(line)
    label, _, address = line.partition(": ")
    if line == runbook and address.startswith("https://") and " " not in address:
        text = f'{label}: <a href="{escape(address)}">{escape(address)}</a>'
    return f'<p style="margin:.3em 0">{text}</p>'
