"""The methods by name, and what every one of them can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import Any, Final, Protocol, TypeGuard, runtime_checkable

from dehusk.errors import SettingError, UsageError, did_you_mean
from dehusk.memory import Memory
from dehusk.methods.contract import Assessment, Explanation, FamilySeen, Smoothing, Verdict
from dehusk.page.tree import Floats, Tree
from dehusk.settings import METHOD


class Method(Protocol):
    """A way to tell template from content. Its fields are its settings; it keeps nothing else."""

    @property
    def name(self) -> str:
        """What the method is called on the command line."""

    def learn(self, memory: Memory, tree: Tree) -> Memory:
        """The memory with this page added; the one handed in stays as it was."""

    def score(self, memory: Memory, tree: Tree) -> Floats:
        """One number per node, 0 content … 1 template, nan for no opinion.

        The memory has learned this page already; a method that wants other pages' word only takes
        the page's own part out.
        """


@runtime_checkable
class Smooths(Protocol):
    """What a method has besides if its scores are to be smoothed on the tree before labelling."""

    def smoothing(self, memory: Memory, tree: Tree) -> Smoothing:
        """What smoothing may cost; the memory is the one that `score` was asked with."""


@runtime_checkable
class Explains(Protocol):
    """What a method has besides if it can say what its scores are made of."""

    def explain(self, memory: Memory, tree: Tree) -> Explanation:
        """What the page said of each node, and what the site; the memory is as for `score`."""


@runtime_checkable
class Assesses(Protocol):
    """What a method has besides if it tells comments apart, and how sure it is."""

    def assess(self, memory: Memory, tree: Tree) -> Assessment:
        """What `score` gives, and more; the memory is as for `score`."""


@runtime_checkable
class Judges(Protocol):
    """What a method has besides if it says something of the page as a whole."""

    def verdict(self, memory: Memory, tree: Tree) -> Verdict:
        """Family, type and change of template; the memory is the one `score` was asked with."""


@runtime_checkable
class AdditiveMethod(Method, Protocol):
    """A method whose memory is the sum of what each page teaches by itself.

    `learn` is `limit(memory.then(lesson(tree)))`, but for copies of pages (`KnowsCopies`): whoever
    keeps the lessons can make the memory again, and memories of two parts of a site can be added.
    """

    def lesson(self, tree: Tree) -> Memory:
        """What this page alone teaches: a memory of one page."""

    def limit(self, memory: Memory) -> Memory:
        """The memory without what is too old or too much, as it must be after each page."""


@runtime_checkable
class KnowsCopies(Protocol):
    """What an additive method has besides if copies of a page are no evidence against it."""

    def news(self, memory: Memory, lesson: Memory) -> Memory | None:
        """What the memory has to learn from a lesson; None for a copy that says nothing new."""


@runtime_checkable
class GroupsPages(Protocol):
    """What a method has besides if it tells templates of one site apart."""

    def family(self, lesson: Memory) -> int | None:
        """The number of the family of the page that taught this."""

    def families(self, memory: Memory) -> tuple[FamilySeen, ...]:
        """The families that the memory knows, that of most pages first."""

    def has_new_template(self, memory: Memory) -> bool:
        """True for the memory after the page that shows that the site's template has changed."""


@cache
def _offers(kind: type, protocol: type) -> bool:
    """Has the class what the protocol asks for? Asked once: Python takes its time to find out."""
    return issubclass(kind, protocol)


def knows_copies(method: Method) -> TypeGuard[KnowsCopies]:
    """Does the method tell copies of pages from other pages?"""
    return _offers(type(method), KnowsCopies)


def smooths(method: Method) -> TypeGuard[Smooths]:
    """Are the method's scores to be smoothed?"""
    return _offers(type(method), Smooths)


def assesses(method: Method) -> TypeGuard[Assesses]:
    """Does the method tell more than scores?"""
    return _offers(type(method), Assesses)


def judges(method: Method) -> TypeGuard[Judges]:
    """Does the method say something of the page as a whole?"""
    return _offers(type(method), Judges)


def adds_up(method: Method) -> TypeGuard[AdditiveMethod]:
    """Is the method's memory the sum of what each page teaches?"""
    kind = type(method)  # Asked for by name: of a protocol with a `name`, Python cannot tell.
    return hasattr(kind, "lesson") and hasattr(kind, "limit")


def groups_pages(method: Method) -> TypeGuard[GroupsPages]:
    """Does the method tell templates of one site apart?"""
    return _offers(type(method), GroupsPages)


class _Methods(Mapping[str, type[Any]]):
    """The classes of methods by name; each is loaded when it is first asked for."""

    def __init__(self, **classes: str) -> None:
        self._classes = {name.replace("_", "-"): place for name, place in classes.items()}

    def __getitem__(self, name: str) -> type[Any]:
        module, _, kind = self._classes[name].partition(":")
        found: type[Any] = getattr(import_module(f"dehusk.methods.{module}"), kind)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


HYPERLINK: Final = "hyperlink"
"""The method that compares pages which link to each other, so that some doors treat it apart."""
METHODS: Final = _Methods(
    auto="auto:Auto",
    segments="papers.segments:Segments",
    hyperlink="papers.hyperlink:Hyperlink",
    site_hash="papers.site_hash:SiteHash",
    chunks="papers.chunks:Chunks",
    style_tree="papers.style_tree:StyleTree",
    rtdm="papers.rtdm:Rtdm",
    page="papers.page:PageSmooth",
    page_basic="papers.page:PageBasic",
    cetr="papers.cetr:Cetr",
    words_leaves="papers.words_leaves:WordsLeaves",
)
"""Every method by its name."""

DEFAULT: Final = METHOD


def make_method(name: str = DEFAULT, **settings: object) -> Method:
    """The method of that name with these settings; unknown ones are refused by name."""
    if name not in METHODS:
        raise unknown_method(name)
    defaults = {field.name: field.default for field in fields(METHODS[name])}
    for setting, value in settings.items():
        if setting not in defaults:
            raise unknown_setting(name, setting, defaults)
        _check_type(name, setting, value, defaults[setting])
    method: Method = METHODS[name](**settings)
    return method


def unknown_method(name: str) -> UsageError:
    """Says that there is no method of that name, and which there are."""
    there = ", ".join(METHODS)
    meant = did_you_mean(name, METHODS)
    return UsageError(f"no method is called {name!r}; there are: {there}{meant}")


def unknown_setting(method: str, name: str, known: Iterable[str]) -> SettingError:
    """Says that the method has no setting of that name, and which it has."""
    names = list(known)
    meant = did_you_mean(name, names)
    return SettingError(f"{method} has no setting {name!r}; it has: {', '.join(names)}{meant}")


def settings_of(method: Method) -> dict[str, object]:
    """The settings of a method, by name; what is not plain data, or not set, is left out."""
    settings = {field.name: getattr(method, field.name) for field in fields(METHODS[method.name])}
    return {
        name: value for name, value in settings.items() if value is not None and not callable(value)
    }


def learned_with(method: Method) -> dict[str, object]:
    """The settings that its memories depend on: all but those that only change answers."""
    settings = settings_of(method)
    return {name: settings[name] for name in settings if name not in only_asked_with(method.name)}


def only_asked_with(name: str) -> tuple[str, ...]:
    """The settings of a method that change answers, but nothing that is learned."""
    return getattr(METHODS[name], "only_asked_with", ())


def _check_type(method: str, setting: str, value: object, default: object) -> None:
    """Raise SettingError for a value of another type than the default's; None takes any."""
    if default is None or isinstance(value, type(default)):
        is_right = not (isinstance(value, bool) and not isinstance(default, bool | None))
    else:
        is_right = isinstance(default, float) and isinstance(value, int)
    if not is_right:
        wanted = type(default).__name__
        raise SettingError(f"{method}: {setting} is {value!r}, which is not of type {wanted}")
