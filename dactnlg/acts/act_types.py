"""What the names of act types tell. Everything else about them is learned from the texts that training has for them."""

from __future__ import annotations

INFORM = "inform"
"""The act type of plain statements, and of notations that have no act types."""


def recommends(act_type: str) -> bool:
    """Whether an act type recommends something: `recommend`."""
    return "recommend" in act_type.casefold()


def suggests(act_type: str) -> bool:
    """Whether an act type suggests something: `suggest`."""
    return "suggest" in act_type.casefold()


def compares(act_type: str) -> bool:
    """Whether an act type compares things: `compare`."""
    return "compare" in act_type.casefold()


def excepts(act_type: str) -> bool:
    """Whether an act type names exceptions from what another one says: `canthelp.exception`."""
    return ".except" in act_type


def implies(act_type: str) -> bool:
    """Whether an act type confirms by implication, with no words of its own: `impl-conf`."""
    return asking_instead(act_type) != act_type


def asking_instead(act_type: str) -> str:
    """Return the name of the act type that asks for what an implicit confirmation implies; of others, their own name.

    >>> asking_instead("impl-conf"), asking_instead("implicit_confirm"), asking_instead("inform")
    ('expl-conf', 'explicit_confirm', 'inform')
    """
    return act_type.replace("impl", "expl", 1)
