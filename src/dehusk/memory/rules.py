"""Rules of a site: what a user has corrected, kept with the site's memory and obeyed ever after."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from dehusk.answer.override import NO_OVERRIDES, Overrides
from dehusk.errors import StoreDamaged, UsageError
from dehusk.page.hashing import digest

if TYPE_CHECKING:
    from dehusk.memory.store import Shelf

SHELF: Final = "rules"
"""What the shelf of a site's rules is called."""
MAX_RULES: Final = 200
"""Rules of a site. Each is asked of every page, so they must not grow without end."""
MAX_SELECTOR: Final = 500
"""Characters of a selector."""


class Action(StrEnum):
    """What a rule does with what it selects."""

    KEEP = "keep"
    """It is content, with all below it."""
    DROP = "drop"
    """It is template, with all below it."""


class Rule(Struct, frozen=True):
    """A selector of CSS, and what becomes of what it selects on every page of the site."""

    action: Action
    selector: str

    @property
    def id(self) -> str:
        """What the rule is called: the same for the same rule, on every machine."""
        return digest(f"{self.action} {self.selector}", size=6).hex()


def read_rules(shelf: Shelf) -> tuple[Rule, ...]:
    """The rules on a site's shelf, by selector: all of them, or StoreDamaged."""
    found = shelf.all()
    try:
        parsed = [json.loads(value) for _, value in found]
        rules = [Rule(Action(rule["action"]), str(rule["selector"])) for rule in parsed]
    except (ValueError, KeyError, TypeError) as fault:
        raise StoreDamaged("a rule of the site was not written by dehusk") from fault
    return tuple(sorted(rules, key=lambda rule: (rule.selector, rule.action)))


def put_rule(shelf: Shelf, action: str, selector: str) -> Rule:
    """The rule that is now on the shelf; the opposite one, if there was one, is gone.

    Raises SelectorError for what is not CSS, UsageError for too long a selector or too many rules.
    """
    rule = Rule(Action(action), selector.strip())
    if not rule.selector or len(rule.selector) > MAX_SELECTOR:
        raise UsageError(f"a selector has 1 to {MAX_SELECTOR} characters")
    overrides_of((rule,))
    before = read_rules(shelf)
    if len(before) >= MAX_RULES and rule not in before:
        raise UsageError(f"the site has {MAX_RULES} rules: remove one first")
    opposite = Action.DROP if rule.action is Action.KEEP else Action.KEEP
    shelf.delete(bytes.fromhex(Rule(opposite, rule.selector).id))
    written = {"action": str(rule.action), "selector": rule.selector}
    shelf.put(bytes.fromhex(rule.id), json.dumps(written).encode())
    return rule


def remove_rule(shelf: Shelf, rule_id: str) -> bool:
    """Take a rule off the shelf; False if it was not there."""
    found = next((rule for rule in read_rules(shelf) if rule.id == rule_id), None)
    if found is None:
        return False
    shelf.delete(bytes.fromhex(found.id))
    return True


def overrides_of(rules: tuple[Rule, ...], given: Overrides = NO_OVERRIDES) -> Overrides:
    """What the user decides by rules, besides what is given."""
    if not rules:
        return given
    keep, drop = (
        tuple(rule.selector for rule in rules if rule.action is action) for action in Action
    )
    return Overrides((*given.keep, *keep), (*given.drop, *drop)) if keep or drop else given
