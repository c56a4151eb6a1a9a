"""Self-contained HTML pages without scripts, from Jinja2 templates.

All output of templates is made printable and escaped. The page's Content-Security-Policy allows nothing but its own
style sheet, by its hash: if text from a run or a file were ever taken for markup, browsers would not run or fetch it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dactnlg import __version__
from dactnlg._utils.terminal import printable
from dactnlg.evaluation.scores import shown, shown_interval
from dactnlg.metrics.base import SHORT

_HERE = "dactnlg.evaluation.report"


class Bars:
    """Widths and positions of bars as CSS classes, since the page's policy forbids `style` attributes."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}

    @staticmethod
    def inside(share: float) -> float:
        """Clip a share of the full width to 0..1."""
        return min(max(share, 0.0), 1.0)

    def width(self, share: float) -> str:
        """Return the class for a width, a share of the full width."""
        return self._class("width", share)

    def left(self, share: float) -> str:
        """Return the class for a distance from the left, a share of the full width."""
        return self._class("left", share)

    def css(self) -> str:
        """Return the rules of all classes returned so far."""
        return "".join(f"{rule}\n" for rule in self._rules.values())

    def _class(self, what: str, share: float) -> str:
        value = f"{self.inside(share):.2%}"
        name = f"{what}-{value[:-1].replace('.', '-')}"
        self._rules[name] = f".{name} {{ {what}: {value}; }}"
        return name


def page(
    title: str, template: str, values: Mapping[str, object], package: str = _HERE, sheets: Sequence[str] = ()
) -> str:
    """Return a whole page.

    Args:
        title: its title.
        template: the template of its body, in the folder `templates` of `package`.
        values: the template's variables; `bars`, a `Bars`, is added.
        package: the package of the template; templates of reports are found as well.
        sheets: further style sheets in the same folder, added after that of reports.
    """
    bars = Bars()
    environment = _environment(package)
    body = environment.get_template(template).render(**values, bars=bars)
    style = _sheet(_HERE, "style.css") + "".join(_sheet(package, name) for name in sheets) + bars.css()
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    # Not from users, or already escaped by the templates.
    parts = {"style": Markup(style), "body": Markup(body.strip())}
    return environment.get_template("page.html.j2").render(title=title, policy=policy, version=__version__, **parts)


@cache
def _environment(package: str) -> Environment:
    found = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(_HERE)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"spec": format, "shown": shown, "interval": shown_interval, "breakable": breakable}
    found.filters["short"] = lambda code: code[:SHORT]
    return found


def _plain(value: object) -> object:
    """Make text printable, without control characters; `Markup` is kept, as it is trusted."""
    return printable(value, "\n\t") if isinstance(value, str) and not isinstance(value, Markup) else value


def breakable(name: str) -> Markup:
    """Return a long name, escaped, with possible line breaks after `_` and `&`."""
    parts = (Markup("_<wbr>").join(part.split("_")) for part in printable(name).split("&"))
    return Markup("&amp;<wbr>").join(parts)


def _sheet(package: str, name: str) -> str:
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")
