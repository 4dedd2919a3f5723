"""What everybody waits for before the first page."""

from __future__ import annotations

import gc
import re
from unittest.mock import Mock

import pytest

from dehusk.doors.cli import main
from dehusk.page.patterns import pattern


def test_a_pattern_is_compiled_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_now = Mock(wraps=re.compile)
    monkeypatch.setattr(re, "compile", compile_now)
    word = pattern(r"[a-z]+", re.IGNORECASE)
    longer = pattern(rf"{word.pattern}!")
    compile_now.assert_not_called()
    assert word.fullmatch("Rye")
    assert word.fullmatch("Oats")
    compile_now.assert_called_once_with("[a-z]+", re.IGNORECASE)
    assert longer.sub("", "rye! oats") == " oats"


def test_garbage_is_collected_once_a_command_is_loaded(capsys: pytest.CaptureFixture[str]) -> None:
    gc.disable()  # As `python -m dehusk` does.
    try:
        assert main(["methods"]) == 0
        assert gc.isenabled()
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
        gc.enable()
