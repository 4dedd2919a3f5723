"""Tables and memories: counting, adding up, saving."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dehusk.errors import StateError
from dehusk.memory import Memory, Table, dump, load

PAGES = st.lists(st.lists(st.integers(0, 12), max_size=10), max_size=12)


def _keys(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(values, np.uint64)


def _table(pages: list[list[int]], first: int = 1) -> Table:
    table = Table()
    for number, page in enumerate(pages, first):
        table = table.with_page(_keys(page), number)
    return table


def _rows(table: Table) -> list[tuple[int, int, int]]:
    return list(zip(table.keys.tolist(), table.count.tolist(), table.last.tolist(), strict=True))


@given(PAGES)
def test_a_table_counts_the_pages_of_each_key_and_the_last_of_them(pages: list[list[int]]) -> None:
    expected = [
        (
            key,
            sum(key in page for page in pages),
            max(n for n, p in enumerate(pages, 1) if key in p),
        )
        for key in sorted({key for page in pages for key in page})
    ]
    assert _rows(_table(pages)) == expected


def test_a_page_does_not_change_the_table_it_is_added_to() -> None:
    table = _table([[1, 2]])
    before = _rows(table)
    table.with_page(_keys([2, 3]), 2)
    assert _rows(table) == before


@given(PAGES, st.lists(st.integers(0, 20), max_size=10))
def test_an_unknown_key_has_the_count_0(pages: list[list[int]], asked: list[int]) -> None:
    known = {key: count for key, count, _ in _rows(_table(pages))}
    counts = _table(pages).counts_of(_keys(asked))
    assert counts.tolist() == [known.get(key, 0) for key in asked]


@given(PAGES, PAGES)
def test_two_tables_add_up_in_any_order(one: list[list[int]], two: list[list[int]]) -> None:
    first, second = _table(one), _table(two)
    both = _table(one + two)
    assert _rows(first.plus(second)) == _rows(second.plus(first))
    summed = [(key, count) for key, count, _ in _rows(first.plus(second))]
    assert summed == [(key, count) for key, count, _ in _rows(both)]


def test_a_memory_survives_being_saved() -> None:
    memory = Memory().after_page(a=_table([[1, 2], [2]])).after_page(b=_table([[2**64 - 1]]))
    again = load(dump(memory, "m"), "m")
    assert again.pages == 2
    assert {name: _rows(table) for name, table in again.tables.items()} == {
        "a": [(1, 1, 1), (2, 2, 2)],
        "b": [(2**64 - 1, 1, 1)],
    }
    assert dump(again, "m") == dump(memory, "m")


def test_owners_and_sequences_survive_being_saved() -> None:
    table = (
        Table().with_page(_keys([5, 3]), 1, _keys([50, 30])).with_page(_keys([4]), 2, _keys([40]))
    )
    memory = Memory().after_page(a=table, sequences={"s": _keys([9, 8, 9])})
    again = load(dump(memory, "m"), "m")
    owner = again.table("a").owner
    assert owner is not None
    assert owner.tolist() == [30, 40, 50]
    assert again.sequences["s"].tolist() == [9, 8, 9]
    assert again.size_bytes == 3 * 24 + 3 * 8


def test_owners_are_kept_when_tables_add_up() -> None:
    one = Table().with_page(_keys([1, 3]), 1, _keys([10, 30]))
    two = Table().with_page(_keys([2, 3]), 1, _keys([20, 30]))
    owner = one.plus(two).owner
    assert owner is not None
    assert owner.tolist() == [10, 20, 30]
    assert one.only(np.array([False, True])).owner == _keys([30])


def test_memories_with_an_order_do_not_add_up() -> None:
    memory = Memory().after_page(sequences={"s": _keys([1])})
    with pytest.raises(StateError, match="do not add up"):
        memory.plus(Memory())


def test_an_empty_memory_survives_being_saved() -> None:
    assert load(dump(Memory(), "m"), "m").pages == 0


def test_a_memory_of_another_method_is_refused_by_name() -> None:
    with pytest.raises(StateError, match="of the method a, not b"):
        load(dump(Memory(), "a"), "b")


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_a_flipped_byte_is_always_noticed(place: int, change: int) -> None:
    data = bytearray(dump(Memory().after_page(a=_table([[1, 2, 3]])), "m"))
    data[place % len(data)] ^= change
    with pytest.raises(StateError):
        load(bytes(data), "m")


@pytest.mark.parametrize("length", [0, 3, 14, 40])
def test_a_truncated_memory_is_refused(length: int) -> None:
    with pytest.raises(StateError):
        load(dump(Memory().after_page(a=_table([[1]])), "m")[:length], "m")


def test_a_memory_of_another_version_is_refused() -> None:
    body = dump(Memory(), "m")[:-4].replace(b'"version": 1', b'"version": 9')
    with pytest.raises(StateError, match="version 9"):
        load(body + zlib.crc32(body).to_bytes(4, "little"), "m")
