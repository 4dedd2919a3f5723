"""Fingerprints: near for texts that are near, the same for the same words."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dehusk.answer.fingerprint import fingerprint, hashes
from dehusk.page.hashing import TEXT_FACTOR

FIXED = settings(derandomize=True, deadline=None)
WORDS = st.lists(st.text("abcdefgäж", min_size=1, max_size=6), min_size=1, max_size=60)


def _distance(one: str, other: str) -> int:
    return (int(fingerprint(one), 16) ^ int(fingerprint(other), 16)).bit_count()


def _article(seed: int, length: int = 400) -> list[str]:
    """Words as frequent as in prose: a few come often, most come once."""
    rng = random.Random(seed)
    return [f"w{int(rng.paretovariate(0.6)) % 5000}" for _ in range(length)]


@pytest.mark.parametrize("text", ["", "   ", "... !? —", "\n\t"])
def test_a_text_without_words_has_the_fingerprint_0(text: str) -> None:
    assert fingerprint(text) == "0000000000000000"


def test_a_fingerprint_is_the_same_on_every_machine() -> None:
    assert fingerprint("The grain is what each page says.") == "c240ad83b764ac1e"
    assert fingerprint("漢字とかな") == "9fab2965f037bbbb"


@given(WORDS)
@FIXED
def test_a_fingerprint_is_sixteen_hex_digits(words: list[str]) -> None:
    found = fingerprint(" ".join(words))
    assert len(found) == 16
    assert set(found) <= set("0123456789abcdef")


@given(WORDS, st.randoms(use_true_random=False))
@FIXED
def test_the_order_of_words_does_not_count(words: list[str], rng: random.Random) -> None:
    shuffled = list(words)
    rng.shuffle(shuffled)
    assert fingerprint(" ".join(shuffled)) == fingerprint(" ".join(words))


def test_capitals_and_punctuation_do_not_count() -> None:
    assert fingerprint("The Husk, the GRAIN!") == fingerprint("the husk the grain")


def test_capitals_of_all_scripts_are_taken_for_their_small_letters() -> None:
    for character in map(chr, range(0x3000)):
        assert fingerprint(f"a{character}") == fingerprint(f"a{character}".lower())


def test_chinese_goes_by_character() -> None:
    assert fingerprint("漢字") == fingerprint("字 漢")
    assert fingerprint("page頁面two") == fingerprint("two 頁 面 page")


@given(st.integers(0, 10_000), st.integers(0, 399))
@FIXED
def test_another_word_in_an_article_moves_few_bits(seed: int, place: int) -> None:
    words = _article(seed)
    edited = [*words[:place], "edited", *words[place + 1 :]]
    assert _distance(" ".join(words), " ".join(edited)) <= 6


def test_articles_of_other_words_are_far_apart() -> None:
    texts = [" ".join(f"{seed}x{word}" for word in _article(seed)) for seed in range(20)]
    distances = [_distance(one, other) for one in texts for other in texts if one is not other]
    assert min(distances) > 12


def test_a_long_run_of_letters_and_many_words_are_no_trouble() -> None:
    assert fingerprint("x" * 300_000) != "0" * 16
    assert fingerprint(" ".join(map(str, range(50_000)))) != "0" * 16


def _word_hash(word: str) -> int:
    """The hash of a word by its definition: a polynomial of its characters, scattered."""
    value = 0
    for letter in reversed(word):
        value = (value * TEXT_FACTOR + ord(letter) + 1) % 2**64
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
    return value ^ (value >> 31)


_SOLID = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


@settings(max_examples=300, deadline=None)
@example("")
@example("a" * 64 + "b" * 64 + " x" * 9)
@example("İstanbul ß \u0130\u3040\u30fb漢字かな\U0001f600\U00020001 한글 \U00050000 \U000e0100x")
@example("ΟΔΟΣ οδός ΟΔΟΣΑ Σ\uffff")
@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(("rye", "Rye", "oats_1", " ", "é", "漢", "한", "\ud800", ".")))
    .map("".join)
)  # fmt: skip
def test_a_fingerprint_is_what_its_definition_says(text: str) -> None:
    words = re.findall(rf"[{_SOLID}]|[^\W{_SOLID}]{{1,64}}", text.lower())
    assert hashes(text).tolist() == list(map(_word_hash, words))
    weights = {_word_hash(word): count.bit_length() for word, count in Counter(words).items()}
    ones = [sum(w for h, w in weights.items() if h >> bit & 1) for bit in range(64)]
    total = sum(weights.values())
    expected = sum(1 << bit for bit in range(64) if 2 * ones[bit] > total)
    assert fingerprint(text) == f"{expected:016x}"
