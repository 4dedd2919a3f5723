"""How the command line is parsed: short help, and errors in one line that say what was meant."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn

from dehusk.errors import did_you_mean

EXAMPLES: Final = "examples:"
"""How the end of a help begins that is written line by line."""
EXIT_USAGE: Final = 2
_MEANT: Final = {"dehusk": "clean", "dehusk sites": "--memory"}
"""What was left out where a file stands in the place of a command."""
_MAX_NAMED: Final = 8
"""Options that a usage line names; more are a screen that nobody reads."""
_MAX_SHOWN: Final = 15
"""Options that `--help` shows one and all; of more, it shows the usual ones."""
_USUAL: Final = {
    *("--help", "--output", "--format", "--quiet", "--memory", "--method", "--against", "--jobs"),
    *("--two-pass", "--render", "--keep", "--drop", "--pages", "--resume", "--answers", "--json"),
    *("--url", "--depth", "--include", "--exclude", "--save", "--fresh"),
    *("--host", "--port", "--token-file", "--workers", "--no-browser", "--master"),
}
"""Options that most people need sooner or later."""


class _Help(argparse.HelpFormatter):
    """Help that fits: a short line of usage, and examples line by line."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None = None,
    ) -> None:
        """Show how the command is called; of many options only those that it cannot do without."""
        actions = list(actions)
        named = [action for action in actions if action.required or not action.option_strings]
        if usage is None and len(actions) - len(named) > _MAX_NAMED:
            self._prog += " [options]"
            actions, groups = named, ()
        super().add_usage(usage, actions, groups, prefix)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """The text in lines of that width; examples are in lines already."""
        return text if text.startswith(EXAMPLES) else super()._fill_text(text, width, indent)

    def _format_action(self, action: argparse.Action) -> str:
        """An option; for commands only what they are, since the section is named after them."""
        if action.nargs == argparse.PARSER:
            return "".join(map(self._format_action, action._get_subactions()))  # type: ignore[attr-defined]
        return super()._format_action(action)


class _HelpAll(argparse._HelpAction):
    """Shows every option, where `--help` shows the usual ones."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Write it and exit."""
        self.help = argparse.SUPPRESS
        parser._print_message(argparse.ArgumentParser.format_help(parser), sys.stdout)
        parser.exit()


class Parser(argparse.ArgumentParser):
    """A parser that shows what there is on one screen, and says what is wrong in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(formatter_class=_Help, allow_abbrev=False, **settings)
        self.elsewhere: tuple[Callable[[Parser], None], str] | None = None
        """What gives a kindred command its options, and what is said to who uses one here."""
        self._help_all = self.add_argument(
            "--help-all", action=_HelpAll, help="show all options and exit"
        )

    def add_subparsers(self, **settings: Any) -> Any:
        """Where commands are added, in a section of the help that is named after them."""
        return super().add_subparsers(title=f"{settings['metavar'].lower()}s", **settings)

    def format_help(self) -> str:
        """The help; of many options it has the usual ones, and says what the others are about."""
        if len(self._actions) <= _MAX_SHOWN:
            self._help_all.help = argparse.SUPPRESS
            return super().format_help()
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        formatter.start_section("options")
        usual = [action for action in self._actions if _is_usual(action)]
        formatter.add_arguments(sorted(usual, key=_rank))
        formatter.end_section()
        rare = {action for action in self._actions if not _is_usual(action)} - {self._help_all}
        groups = [group for group in self._action_groups[2:] if rare & {*group._group_actions}]
        # The first two groups are those of argparse, whose names say nothing.
        about = ", ".join(str(group.title).partition(":")[0] for group in groups)
        formatter.add_text(f"--help-all shows {len(rare)} more, about {about}.")
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write it; a terminal that has no dots gets three points."""
        try:
            super()._print_message(message, file)
        except UnicodeEncodeError:
            plain = message.replace("…", "...").encode("ascii", "replace").decode()
            super()._print_message(plain, file)

    def error(self, message: str) -> NoReturn:
        """Exit with the message and where to read more."""
        see = " See" if message.endswith("?") else "; see"
        self.exit(EXIT_USAGE, f"dehusk: {message}{see} `{self.prog} --help`\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """All that was given; what the command does not know is refused in the command's name."""
        words = list(sys.argv[1:] if args is None else args)
        needed = [action.nargs for action in self._actions if action.required]
        if not words and argparse.PARSER in needed:
            self.exit(EXIT_USAGE, self.format_help())
        # Before what is missing is asked for: a mistyped option may be the reason why it is.
        self._refuse([word for word in self._own(words) if self._is_unknown(word)])
        given, unknown = super().parse_known_args(words, namespace)
        self._refuse(unknown)
        return given, unknown

    def _own(self, words: Sequence[str]) -> Sequence[str]:
        """The words that are for this parser, not for that of a command below it."""
        own = words[:1] if self._subparsers else words
        return own[: own.index("--")] if "--" in own else own

    def _is_unknown(self, word: str) -> bool:
        """True for a long option that there is not."""
        name = word.partition("=")[0]
        is_option = name.startswith("--") and " " not in word
        return is_option and name not in self._option_string_actions

    def _refuse(self, unknown: Sequence[str]) -> None:
        """Exit with the first of these words, if there is one, and what could be meant."""
        if not unknown:
            return
        name = unknown[0].partition("=")[0]
        if not name.startswith("-"):
            self.error(f"unexpected argument {unknown[0]!r}")
        if self.elsewhere is not None:
            add_options, advice = self.elsewhere
            add_options(other := Parser())
            if name in other._option_string_actions:
                self.exit(EXIT_USAGE, f"dehusk: {name}: {advice}\n")
        self.error(f"unknown option {name}{did_you_mean(name, self._option_string_actions)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a command or a value that there is not, with the one that may be meant."""
        if action.choices is None or value in action.choices:
            return
        meant = did_you_mean(str(value), map(str, action.choices))
        if action.nargs != argparse.PARSER:
            choices = ", ".join(map(str, action.choices))
            raise argparse.ArgumentError(action, f"{value!r} is not one of {choices}{meant}")
        if (left_out := _MEANT.get(self.prog)) and _is_source(value):
            meant = f"; did you mean `{self.prog} {left_out} {value}`?"
        raise argparse.ArgumentError(None, f"no command is called {value!r}{meant}")


def _is_usual(action: argparse.Action) -> bool:
    """Does `--help` always show it?"""
    names = action.option_strings
    return action.required or not names or not _USUAL.isdisjoint(names)


def _rank(action: argparse.Action) -> int:
    """Where the help shows it: operands first, and last what one has just found."""
    return 2 * ("--help" in action.option_strings) + bool(action.option_strings)


def _is_source(name: str) -> bool:
    """Does it name a file, a folder or something on the web?"""
    return os.path.exists(name) or "://" in name  # noqa: PTH110  takes any name
