"""The languages that sample pages are written in, and prose made of their words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

from dehusk_bench.samples.dice import Dice

LANGS: Final = ("en", "de", "fr", "ru", "el", "zh", "ja", "ar")

_SLOT: Final = re.compile(r"\{(\w+)\}")
_SLOTS: Final = {
    "s": "subjects",
    "v": "verbs",
    "o": "objects",
    "a": "adverbials",
    "c": "connectors",
    "t": "places",
    "g": "goods",
    "m": "modules",
    "w": "operations",
    "d": "data",
    "k": "conditions",
}
_OPENERS: Final = ("", "“", "„", "«", "« ", "「")
"""What may stand before a sentence's first word."""
_KEPT_SHARE: Final = 0.7
"""How much of a language's vocabulary one site uses, so that two sites sound different."""

Pattern = Sequence[str]
"""Literal text and slot names in turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A language: its words by what they are for, and the phrases that sites use around them."""

    code: str
    direction: str
    space: str
    """What stands between two sentences."""
    date: str
    words: Mapping[str, Sequence[str]]
    patterns: Mapping[str, Sequence[Pattern]]
    phrases: Mapping[str, str]


@cache
def load(code: str) -> Language:
    """The language with this code, one of `LANGS`."""
    path = files("dehusk_bench.samples") / "words" / f"{code}.toml"
    table = tomllib.loads(path.read_text("utf-8"))
    words = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    return Language(
        code,
        table["direction"],
        table["space"],
        table["date"],
        words,
        {key: [_SLOT.split(text) for text in texts] for key, texts in words.items()},
        table["phrases"],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Prose:
    """Sentences, names and phrases as one site says them, chosen by dice."""

    language: Language
    slots: Mapping[str, Sequence[str]]
    """By slot name, the words that this site uses."""
    dice: Dice

    @classmethod
    def of_site(cls, language: Language, dice: Dice) -> Prose:
        """The prose of a site, which uses only a part of the language."""
        slots = {}
        for slot, key in _SLOTS.items():
            words = language.words[key]
            slots[slot] = dice.sample(words, max(4, int(_KEPT_SHARE * len(words))))
        return cls(language, slots, dice)

    def with_dice(self, dice: Dice) -> Prose:
        """The same words, chosen by other dice."""
        return replace(self, dice=dice)

    def phrase(self, key: str, **values: str) -> str:
        """What a site says for `key`, its slots filled."""
        text = self.language.phrases[key]
        return text.format(**values) if "{" in text else text

    def word(self, key: str) -> str:
        """One of the language's words of a sort."""
        return self.dice.pick(self.language.words[key])

    def person(self) -> str:
        """A person's name."""
        first, last = self.word("first_names"), self.word("last_names")
        return f"{first} {last}" if self.language.space else last + first

    def date(self, year: int, month: int, day: int) -> str:
        """A date as people write it."""
        name = self.language.words["months"][month - 1]
        return self.language.date.format(d=day, m=month, month=name, y=year)

    def parts(self, key: str) -> tuple[str, str, str]:
        """A sentence cut around one of its nouns: before it, the noun, behind it."""
        pattern = self.dice.pick(self.language.patterns[key])
        out = list(pattern)
        noun = 1
        for place in range(1, len(pattern), 2):
            value = self._fill(pattern[place])
            out[place] = self._fill(pattern[place]) if value in out else value
            if pattern[place] == "o":
                noun = place
        first = 1 if out[0] in _OPENERS and len(out) > 1 else 0
        out[first] = out[first][0].upper() + out[first][1:]
        return "".join(out[:noun]), "".join(out[noun : noun + 1]), "".join(out[noun + 1 :])

    def line(self, key: str) -> str:
        """One sentence or title made by the patterns of a sort."""
        return "".join(self.parts(key))

    def text(self, count: int, key: str = "sentences") -> str:
        """Several sentences."""
        return self.language.space.join([self.line(key) for _ in range(count)])

    def _fill(self, slot: str) -> str:
        """What a slot says this time."""
        words = self.slots.get(slot)
        if words is not None:
            return self.dice.pick(words)
        if slot == "n":
            return str(self.dice.between(2, 40))
        return self.person() if slot == "p" else self.language.phrases[slot]
