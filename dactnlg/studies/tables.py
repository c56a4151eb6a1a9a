"""The database tables of a study's answers."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKeyConstraint, Integer, MetaData, String, Table
from sqlalchemy import UniqueConstraint as Unique

metadata = MetaData()

studies = Table(
    "dactnlg_studies",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("name", String(200), nullable=False),
)
"""Studies by digest (see `Study.digest`); one database may hold several."""

raters = Table(
    "dactnlg_raters",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("rater", String(200), primary_key=True),
    Column("token", String(64), nullable=False),
    Column("consented", BigInteger),
    Column("withdrawn", BigInteger),
    Unique("study", "token"),
    ForeignKeyConstraint(["study"], ["dactnlg_studies.id"]),
)
"""Raters: the hash of their link, and when they consented or withdrew, in seconds since 1970."""

pages = Table(
    "dactnlg_pages",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("page", String(200), primary_key=True),
    Column("rater", String(200), nullable=False),
    Column("number", Integer, nullable=False),
    Column("answered", BigInteger, nullable=False),
    Unique("study", "rater", "number"),
    ForeignKeyConstraint(["study", "rater"], ["dactnlg_raters.study", "dactnlg_raters.rater"]),
)
"""Pages that were answered, and when."""

ratings = Table(
    "dactnlg_ratings",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("rater", String(200), primary_key=True),
    Column("page", String(200), primary_key=True),
    Column("sentence", Integer, primary_key=True),
    Column("criterion", String(200), primary_key=True),
    Column("value", Double, nullable=False),
    ForeignKeyConstraint(["study", "page"], ["dactnlg_pages.study", "dactnlg_pages.page"]),
)
"""Values; `sentence` is the position on the page, from 0. In a pair both sentences have one: 1 and 0, or .5 each."""
