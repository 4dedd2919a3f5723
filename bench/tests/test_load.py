"""`dehusk bench load`: the service under many requests beside slow clients."""

from __future__ import annotations

import re

import pytest

from dehusk.doors.cli import main

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytestmark = pytest.mark.slow


def test_every_request_is_answered_beside_slow_clients(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--requests", "200", "--slow", "30", "--clients", "2", "--method", "segments"]
    assert main(["bench", "load", *options]) == 0
    said = capsys.readouterr().out
    rows = re.findall(r"^(\d+) +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +(\d+)$", said, re.MULTILINE)
    assert [int(requests) for requests, _ in rows] == list(range(20, 201, 20))
    assert max(int(slow) for _, slow in rows) == 30
    assert "answers: 200 200;" in said


def test_too_few_requests_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "load", "--requests", "5"]) == 2
    assert "--requests must be at least 40" in capsys.readouterr().err
