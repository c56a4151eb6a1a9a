"""Pages of HTML, self-contained and without scripts, from Jinja2 templates.

Whatever a template writes is printable, and escaped. The page's Content-Security-Policy allows its one style sheet, by
its hash, and nothing else: should anything from a run or a file ever pass for markup, a browser does not run or fetch
it.
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
    """Widths and places of bars as classes of the page's style sheet, since its policy forbids `style` attributes."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}

    @staticmethod
    def inside(share: float) -> float:
        """Return a share of the full width, at least 0 and at most 1."""
        return min(max(share, 0.0), 1.0)

    def width(self, share: float) -> str:
        """Return the class of a width, given as a share of the full one."""
        return self._class("width", share)

    def left(self, share: float) -> str:
        """Return the class of a distance from the left end, given as a share of the full width."""
        return self._class("left", share)

    def css(self) -> str:
        """Return the rules of all classes that were asked for."""
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
        values: what the template shows, by name; it finds `bars`, a `Bars`, beside them.
        package: the package that holds the template; those of reports are found as well.
        sheets: further style sheets in the same folder, after the one of reports.
    """
    bars = Bars()
    environment = _environment(package)
    body = environment.get_template(template).render(**values, bars=bars)
    style = _sheet(_HERE, "style.css") + "".join(_sheet(package, name) for name in sheets) + bars.css()
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    # Ours, and escaped already: the templates made them.
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
    """Return text without characters that act on the text around it; what is markup is ours."""
    return printable(value, "\n\t") if isinstance(value, str) and not isinstance(value, Markup) else value


def breakable(name: str) -> Markup:
    """Return a long name, escaped, whose line may break where a reader would break it: after `_` and `&`."""
    parts = (Markup("_<wbr>").join(part.split("_")) for part in printable(name).split("&"))
    return Markup("&amp;<wbr>").join(parts)


def _sheet(package: str, name: str) -> str:
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")
