"""The code blocks of the docs: what each is, and how it is run.

    python, pycon   run, the blocks of a page one after another in one namespace
    sh              each command run in a folder that has what the docs speak of
    console         commands behind `$`, and what they print; `…` stands for anything
    others          shown and not run: output, data, files, usage with its placeholders

A command or block that cannot be run here says so in a comment that readers see, in one of the
words of `NOT_RUN`. Its options are checked all the same. `https://example.org` is a small site on
loopback.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt

from dehusk.doors.cli import main, make_parser
from dehusk.errors import UsageError
from dehusk.page.browser import find_chromium

ROOT: Final = Path(__file__).parents[1]
RUN: Final = {"python", "pycon", "sh", "console"}
SHOWN: Final = {"text", "json", "html", "markdown", "toml", "yaml", "dockerfile"}
NOT_RUN: Final = re.compile(
    r"#.*\b(needs (the internet|the corpora|a cluster|Java|Docker|another package)"
    r"|takes (minutes|hours))\b"
)
PROGRAMS: Final = {
    "Chromium": re.compile(r"--render\b|\bBrowser\("),
    "awk": re.compile(r"\bawk "),
    "curl": re.compile(r"\bcurl "),
    "less": re.compile(r"\| less\b"),
}
"""What code may need besides Python and a shell, and how it shows."""
WEB: Final = "https://example.org"
_COMMAND: Final = re.compile(r"^(\$ )?(dehusk|pip|make|python3?|curl) ")
_PLACEHOLDER: Final = re.compile(r"[A-Z]{3,}|\[|…")
_SERVERS: Final = {"serve": ["--port", "0"], "view": ["--port", "0", "--no-browser"]}
_MAIN: Final = "import sys; from dehusk.__main__ import main; sys.exit(main())"


@dataclass(frozen=True)
class Block:
    """A block of code, as it is in the page."""

    page: Path
    line: int
    kind: str
    """What its fence says; `indented` without one."""
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """The code blocks of a page, in order."""
    tokens = MarkdownIt("commonmark").parse(page.read_text("utf-8"))
    return [
        Block(page, token.map[0] + 1, token.info.strip() or "indented", token.content)
        for token in tokens
        if token.type in ("fence", "code_block") and token.map
    ]


def commands_of(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a block in the shell's language, each with what the docs say it prints."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.kind != "console":
        yield from ((line, "") for line in lines if line.strip())
        return
    for number, line in enumerate(lines):
        if line.startswith("$ "):
            rest = lines[number + 1 :]
            ends = next((n for n, below in enumerate(rest) if below.startswith("$ ")), len(rest))
            yield line[2:], "\n".join(rest[:ends])


def is_hidden_command(block: Block) -> bool:
    """Is it shown as if it were no command, though it could be run?"""
    return any(
        _COMMAND.match(line) and not _PLACEHOLDER.search(line) for line in block.text.splitlines()
    )


@dataclass
class Reader:
    """Somebody who reads a page from top to bottom and tries everything, in a folder of theirs."""

    folder: Path
    site: str
    """The address that stands for `https://example.org`."""
    lacking: set[str] = field(default_factory=set)
    """Programs that are not here: what needs them was not run."""
    names: dict[str, Any] = field(default_factory=dict)
    _servers: list[subprocess.Popen[str]] = field(default_factory=list)
    _service: str = ""
    _port: str = field(default_factory=lambda: str(_free_port()))
    """Stands for 8000, which somebody else may have."""

    def try_out(self, block: Block) -> None:
        """Run the block. Raises AssertionError where it does not do what the page says."""
        if block.kind == "pycon":
            self._run_session(block)
        elif block.kind == "python":
            self._run_python(block)
        elif block.kind in ("sh", "console"):
            self._run_commands(block)

    def close(self) -> None:
        """End what was started."""
        for server in self._servers:
            server.terminate()
            server.communicate(timeout=60)

    def _run_session(self, block: Block) -> None:
        told = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        test = doctest.DocTestParser().get_doctest(
            block.text, self.names, str(block), str(block.page), block.line
        )
        runner.run(test, out=told.write, clear_globs=False)
        self.names.update(test.globs)
        assert runner.failures == 0, told.getvalue()

    def _run_python(self, block: Block) -> None:
        code = self._with_site(block.text).replace(
            "CrawlSettings(", "CrawlSettings(allow_private=('127.0.0.1',), delay_s=0, "
        )
        ast.parse(code, str(block))
        if NOT_RUN.search(block.text) or self._lacks_for(code):
            return
        if "__main__" in code:  # Its processes read it again.
            file = self.folder / "block.py"
            file.write_text(code, "utf-8")
            self._shell(f"{sys.executable} {file}", block)
            return
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, str(block), "exec"), self.names)

    def _run_commands(self, block: Block) -> None:
        is_run = True
        for command, printed in commands_of(block):
            if command.startswith("#"):
                is_run = is_run and not NOT_RUN.search(command)
                continue
            check_command(command, block)
            if is_run and not NOT_RUN.search(command) and not self._lacks_for(command):
                found = self._run_command(command, block)
                assert not printed or _is_like(found, printed), f"{block}: {command}\n{found}"

    def _lacks_for(self, code: str) -> bool:
        """Does the code need a program that is not here?"""
        needed = {name for name, sign in PROGRAMS.items() if sign.search(code)}
        lacking = {name for name in needed if not _is_here(name)}
        self.lacking |= lacking
        return bool(lacking)

    def _run_command(self, command: str, block: Block) -> str:
        words = shlex.split(command, comments=True)
        if words[0] in ("pip", "make"):
            return ""  # That they can be called is checked above.
        if words[-1] == "&":
            self._serve(words[:-1])
            return ""
        if words[0] != "dehusk" or {"|", "&&"} & set(words):
            return self._shell(command, block)
        if words[1] in _SERVERS:
            self._start(words[1:])
            return ""
        return self._dehusk(words[1:], block)

    def _dehusk(self, words: list[str], block: Block) -> str:
        """What the command prints, run in this process: a new one would take half a second."""
        words = [self._with_site(word) for word in words]
        if self.site in " ".join(words) and not {"--allow-private", "--against"} & set(words):
            words += ["--allow-private", "127.0.0.1", "--delay", "0"]
        words, target = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, "stdout.txt")
        told = io.StringIO()
        with (self.folder / target).open("w+b") as output:
            with _standard_output(output.fileno()), contextlib.redirect_stderr(told):
                status = main(words)
            assert status == 0, f"{block}: dehusk {' '.join(words)}\n{told.getvalue()}"
            output.seek(0)
            return self._without_site(output.read().decode("utf-8", "replace"))

    def _serve(self, words: list[str]) -> None:
        """Start another server, and wait until it answers."""
        command = [sys.executable, *(word.replace("8000", self._port) for word in words[1:])]
        self._servers.append(
            subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
            )
        )
        for _ in range(600):
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", int(self._port))),
            ):
                return
            time.sleep(0.1)
        raise AssertionError(f"{' '.join(words)} did not start")

    def _start(self, words: list[str]) -> None:
        """Start a service, and wait until it says where it is."""
        own = ["--allow-private", "127.0.0.1", "--delay", "0"] if "--fetch" in words else []
        process = subprocess.Popen(
            [sys.executable, "-m", "dehusk", *words, *_SERVERS[words[0]], *own],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._servers.append(process)
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        found = next(filter(None, (re.search(r"http://[\d.:]+", line) for line in lines)), None)
        assert found, f"dehusk {' '.join(words)} did not start"
        self._service = found[0]

    def _shell(self, command: str, block: Block) -> str:
        """What a shell prints, with `dehusk` on its path."""
        command = self._with_site(command).replace("http://127.0.0.1:8100", self._service)
        command = f'dehusk() {{ {sys.executable} -c "{_MAIN}" "$@"; }}\n{command}'
        run = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command], capture_output=True, text=True, timeout=300,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert run.returncode == 0, f"{block}: {command}\n{run.stderr}"
        return self._without_site(run.stdout)

    def _with_site(self, text: str) -> str:
        text = text.replace("127.0.0.1:8000", f"127.0.0.1:{self._port}")
        return text.replace("127.0.0.1_8000", f"127.0.0.1_{self._port}").replace(WEB, self.site)

    def _without_site(self, text: str) -> str:
        return text.replace(self.site, WEB).replace(self._port, "8000")


@contextlib.contextmanager
def _standard_output(number: int) -> Iterator[None]:
    """Lead standard output to this file as long as the block lasts, for processes below too."""
    kept = os.dup(1)
    os.dup2(number, 1)
    try:
        with open(1, "w", closefd=False) as out, contextlib.redirect_stdout(out):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _is_here(program: str) -> bool:
    if program != "Chromium":
        return shutil.which(program) is not None
    with contextlib.suppress(UsageError):
        return bool(find_chromium())
    return False


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def check_command(command: str, block: Block) -> None:
    """Check what can be checked without running it: options, extras and targets that exist."""
    words = shlex.split(command.replace("…", ""), comments=True)
    if words[:1] == ["dehusk"]:
        words = words[1 : next((n for n, word in enumerate(words) if word in "|>&&"), len(words))]
        told = io.StringIO()
        with contextlib.redirect_stderr(told), contextlib.suppress(SystemExit):
            make_parser(words[0]).parse_args(words)
        assert not told.getvalue(), f"{block}: {command}\n{told.getvalue()}"
    elif words[:1] == ["make"]:
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text("utf-8"), f"{block}: {command}"
    elif words[:2] == ["pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        for named in re.findall(r"dehusk\[([\w,-]+)\]", command):
            missing = set(named.split(",")) - extras["optional-dependencies"].keys()
            assert not missing, f"{block}: {command}: no extra {missing}"


def _is_like(found: str, printed: str) -> bool:
    """Is it what the docs print, where `…` stands for anything?"""
    parts = (r"\s+".join(map(re.escape, part.split())) for part in printed.split("…"))
    return re.fullmatch(r"\s*(?s:.*)\s*".join(parts), found.strip()) is not None
