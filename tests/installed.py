"""What must work where dehusk is installed and nothing else is: `python tests/installed.py`.

cibuildwheel runs it for every wheel. It needs no pytest.
"""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import dehusk

_README = Path(__file__).parents[1] / "README.md"


def _run(folder: str, *arguments: str) -> str:
    """What a command writes."""
    command = [sys.executable, "-m", "dehusk", *arguments]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, encoding="utf-8"
    ).stdout


def _check_readme() -> None:
    """Run the README's examples; their blocks end without the empty line that doctest waits for."""
    blocks = re.findall(r"(?ms)^```pycon\n(.*?)^```", _README.read_text("utf-8"))
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", None, 0)
    ran = doctest.DocTestRunner().run(test)
    assert ran.attempted
    assert not ran.failed


def main() -> None:
    """Try the library, the README's examples and the command line."""
    assert dehusk.extract("<nav>Home</nav><main><h1>Rye</h1>Forty sacks</main>").text
    _check_readme()
    with TemporaryDirectory() as folder:
        sys.stdout.write(_run(folder, "--version"))
        assert "all " in _run(folder, "demo", "--pages", "5")
        page = next(Path(folder).rglob("*.md"))
        assert page.stat().st_size
        _run(folder, "doctor")


if __name__ == "__main__":
    main()
