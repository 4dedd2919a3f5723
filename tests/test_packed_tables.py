"""Tables in one piece of memory: what they hold, and how they add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dehusk.memory import Memory, PackedTables, Table, TableSet, carried, carry, dump, load
from dehusk.methods.auto import Auto
from dehusk.page.parse import parse
from dehusk_bench.samples import sample_site
from twins import assert_same_arrays, the_kernel, without

_SET = TableSet(b=3, a=0)
_KEYS = st.lists(st.integers(0, 12), unique=True, max_size=9)


def _tables(a: list[int], b: list[int], page: int = 1) -> dict[str, Table]:
    sums = np.arange(3 * len(b), dtype=np.uint64).reshape(-1, 3)
    return {
        "a": Table.of_page(np.array(a, np.uint64), page),
        "b": Table.of_page(np.array(b, np.uint64), page, sums=sums),
    }


def _packed(tables: dict[str, Table]) -> PackedTables:
    packed = _SET.packed(tables)
    assert packed is not None
    return packed


def _assert_same(one: Memory, other: Memory) -> None:
    assert (one.pages, sorted(one.tables)) == (other.pages, sorted(other.tables))
    for name in one.tables:
        assert_same_arrays(one.table(name), other.table(name))


@given(_KEYS, _KEYS)
def test_tables_come_out_as_they_went_in(a: list[int], b: list[int]) -> None:
    tables = _tables(a, b)
    packed = _packed(tables)
    assert packed.rows == (len(a), len(b)) == Memory(1, packed).sizes(("a", "b"))
    assert Memory(1, packed).sizes(("b",)) == (len(b),)
    assert [*packed] == ["a", "b"]
    _assert_same(Memory(1, packed), Memory(1, tables))
    with pytest.raises(KeyError):
        packed["c"]


@settings(max_examples=200)
@given(_KEYS, _KEYS, _KEYS, _KEYS, st.sampled_from([0, 1, 7]))
def test_packed_tables_add_up_as_others_do(
    a: list[int], b: list[int], later_a: list[int], later_b: list[int], pages: int
) -> None:
    the_kernel()
    before, later = _tables(a, b), Memory(1, _tables(later_a, later_b))
    packed = Memory(1, _packed(_tables(later_a, later_b)))
    both = Memory(pages, before).then(packed)
    assert isinstance(both.tables, PackedTables)
    _assert_same(Memory(pages, _packed(before)).then(packed), both)
    with without("dehusk.memory.tables"):
        _assert_same(both, Memory(pages, before).then(later))


def test_tables_of_another_set_are_not_packed_but_add_up() -> None:
    tables = _tables([1, 2], [3])
    owned = Table.of_page(np.array([1], np.uint64), owner=np.array([2], np.uint64))
    assert _SET.packed({**tables, "c": tables["a"]}) is None
    assert _SET.packed({**tables, "b": tables["a"]}) is None
    assert _SET.packed({**tables, "a": owned}) is None
    assert TableSet(a=0, b=3).packed(_packed(tables)) is None
    more = Memory(1, {**tables, "c": tables["a"]}).then(Memory(1, _packed(tables)))
    assert more.table("a").count.tolist() == [2, 2]
    assert more.table("c").count.tolist() == [1, 1]


def test_the_kernel_refuses_tables_that_lie_outside_of_their_memory() -> None:
    kernel = the_kernel()
    table = _packed(_tables([1, 2], [3])).memory
    with pytest.raises(ValueError, match="outside"):
        kernel.merge_all(_SET.sums, 1, table, (2, 2), table, (2, 1))
    with pytest.raises(ValueError, match="outside"):
        kernel.merge_all(_SET.sums, 1, b"", (0, 0), table, (2**40, 1))
    with pytest.raises(IndexError):
        kernel.merge_all(_SET.sums, 1, table, (2,), table, (2, 1))
    with pytest.raises(OverflowError):
        kernel.merge_all(_SET.sums, 1, table, (-1, 1), table, (2, 1))
    with pytest.raises(ValueError, match="too many"):
        kernel.merge_all(bytes(99), 1, table, (2, 1), table, (2, 1))
    with pytest.raises(ValueError, match="rise"):
        kernel.merge_all(b"\0", 1, np.array([2, 1, 1, 1], np.uint64), (2,), b"", (0,))


def test_a_memory_that_was_saved_goes_on_as_one_that_was_not() -> None:
    the_kernel()
    method, kept, saved = Auto(base_life=4.0), Memory(), Memory()
    for page in sample_site("docs", pages=8):
        tree = parse(page.page).tree
        kept, saved = method.learn(kept, tree), method.learn(saved, tree)
        plain = Memory(kept.pages, dict(kept.tables))
        assert dump(plain, "auto") == dump(kept, "auto") == dump(saved, "auto")
        assert method.score(kept, tree).tobytes() == method.score(saved, tree).tobytes()
        saved = carried(carry(load(dump(saved, "auto"), "auto")))
