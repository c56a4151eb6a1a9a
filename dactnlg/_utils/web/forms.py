"""Submitted forms: reads their fields and checks that they come from a page of this server."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends
from starlette.requests import Request

from dactnlg._utils.web.problems import UNPROCESSABLE, Problem

MEDIA_TYPE = "application/x-www-form-urlencoded"


async def read_form(request: Request, most: int = 1_000) -> dict[str, str]:
    """Return the fields of a form, in which each may occur once.

    Args:
        request: the request.
        most: maximum number of fields.

    Raises:
        Problem: 415 for another media type, 403 for a form of another site, 422 for a body that is not a UTF-8 form,
            repeats a field or has too many.
    """
    check_origin(request)
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != MEDIA_TYPE:
        raise Problem(415, f"this takes {MEDIA_TYPE}, the form of the page")
    try:
        text = (await request.body()).decode("utf-8")
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=most)
    except ValueError:
        raise Problem(UNPROCESSABLE, f"this is no form of at most {most} fields in UTF-8") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Problem(UNPROCESSABLE, "a field stands in the form twice")
    return fields


async def _form(request: Request) -> dict[str, str]:
    return await read_form(request)


Form = Annotated[dict[str, str], Depends(_form)]
"""Type of a route's argument that receives the submitted form."""


def form_schema(*fields: str) -> dict[str, Any]:
    """Return the OpenAPI description of a form with these fields, or, if none are given, with any."""
    texts = {name: {"type": "string"} for name in fields}
    schema = {"type": "object", "properties": texts, "additionalProperties": False if fields else {"type": "string"}}
    return {"requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": schema}}}}


def check_origin(request: Request) -> None:
    """Refuse a request that a page of another site made a browser send.

    Browsers give the origin in `Sec-Fetch-Site`, older ones in `Origin`, which is `null` under our referrer policy.
    Programs send neither.

    Raises:
        Problem: 403.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin", "null")
    if site is not None:
        foreign = site not in ("same-origin", "none")
    else:
        foreign = origin != "null" and origin.partition("://")[2] != request.headers.get("host")
    if foreign:
        raise Problem(403, "the request comes from a page of another site")
