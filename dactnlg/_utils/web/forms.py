"""Forms of plain HTML: names and values, as a browser sends them without any script."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

from dactnlg._utils.web.problems import Problem

MOST_FIELDS = 2_000
_TYPE = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a request's body, each name once.

    Raises:
        Problem: 415 for another type of content, 400 for what is not UTF-8, has too many fields or a name twice.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise Problem(415, f"send a form, of type {_TYPE}")
    try:
        # In ASCII and percent signs, whatever the text is.
        text = (await request.body()).decode("ascii")
        fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError:
        raise Problem(400, "the form is not percent-encoded UTF-8") from None
    except ValueError:
        raise Problem(400, f"a form has at most {MOST_FIELDS:,} fields") from None
    found = dict(fields)
    if len(found) < len(fields):
        raise Problem(400, "a field stands in the form twice")
    return found
