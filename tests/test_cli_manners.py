"""Wrong use of the command line: status 2, one line that says what, nothing written."""

from __future__ import annotations

import pytest

from dehusk.cli import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clean"], "dehusk: the following arguments are required: SOURCE; see `dehusk clean -"),
        (["clean", "x", "--nonesuch"], "dehusk: unrecognized arguments: --nonesuch; see `dehusk"),
        (["bench", "speed", "--rounds", "0"], "whole number above 0; see `dehusk bench speed -"),
    ],
)
def test_a_wrong_option_is_named_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
