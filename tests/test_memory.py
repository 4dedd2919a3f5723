"""Tables and memories: counting, adding up, saving."""

from __future__ import annotations

import json
import random
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dehusk import Site
from dehusk.errors import StateError
from dehusk.memory import Memory, Table, carried, carry, dump, load
from dehusk.memory.memory import KNOWN
from dehusk.methods.auto import Auto
from dehusk.page.parse import parse
from dehusk_bench.samples import sample_site

PAGES = st.lists(st.lists(st.integers(0, 12), max_size=10), max_size=12)


def _keys(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(values, np.uint64)


def _table(pages: list[list[int]], first: int = 1) -> Table:
    table = Table()
    for number, page in enumerate(pages, first):
        table = table.plus(Table.of_page(_keys(page), number))
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


@pytest.mark.parametrize("number", [1, 254, 255, 256, 65_534, 65_535, 65_536, 2**31 - 9])
def test_numbers_of_pages_of_any_size_add_up_and_are_saved(number: int) -> None:
    first = Table(_keys([1, 5]), *np.array([[number, 1], [number, number]], np.uint32))
    both = first.then(Table.of_page(_keys([1, 3])), number)
    assert _rows(both) == [(1, number + 1, number + 1), (3, 1, number + 1), (5, 1, number)]
    assert both.counts_of(_keys([1, 2])).tolist() == [number + 1, 0]
    assert both.row(1) == (number + 1,)
    assert _rows(both.only(np.array([True, False, True]))) == [_rows(both)[0], _rows(both)[2]]
    assert both.size_bytes == 3 * 16
    saved = load(dump(Memory(number + 1, {"a": both}), "auto"), "auto")
    assert _rows(saved.table("a")) == _rows(both)
    assert _rows(carried(carry(Memory(number + 1, {"a": both}))).table("a")) == _rows(both)


def test_a_page_does_not_change_the_table_it_is_added_to() -> None:
    table = _table([[1, 2]])
    before = _rows(table)
    table.plus(Table.of_page(_keys([2, 3]), 2))
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


SUMMED = st.lists(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(0, 2**40)), max_size=5),
    max_size=6,
)


def _summed(pages: list[list[tuple[int, int, int]]]) -> Table:
    table = Table()
    for number, page in enumerate(pages, 1):
        rows = np.array([row[1:] for row in page], np.uint64).reshape(len(page), 2)
        table = table.plus(Table.of_page(_keys([key for key, *_ in page]), number, sums=rows))
    return table


def _sums(table: Table) -> list[list[int]]:
    return [] if table.sums is None else table.sums.tolist()


@given(SUMMED, SUMMED)
def test_sums_add_up_over_all_pages_in_any_order(
    one: list[list[tuple[int, int, int]]], two: list[list[tuple[int, int, int]]]
) -> None:
    rows = [row for page in one + two for row in page]
    expected = [
        [sum(row[column] for row in rows if row[0] == key) for column in (1, 2)]
        for key in sorted({key for key, *_ in rows})
    ]
    assert _sums(_summed(one + two)) == expected
    assert _sums(_summed(one).plus(_summed(two))) == expected
    assert _sums(_summed(two).plus(_summed(one))) == expected


def test_sums_are_filtered_and_saved_with_their_rows() -> None:
    table = _summed([[(1, 5, 2**40), (3, 6, 1)], [(3, 1, 2)]])
    assert _sums(table.only(np.array([False, True]))) == [[7, 3]]
    again = load(dump(Memory(2, {"a": table}), "m"), "m").table("a")
    assert _sums(again) == [[5, 2**40], [7, 3]]
    assert again.size_bytes == table.size_bytes == 2 * (16 + 16)


def test_rows_with_another_number_of_sums_do_not_mix() -> None:
    summed, plain = _summed([[(1, 5, 6)]]), _table([[1]])
    for one, other in ((summed, plain), (plain, summed)):
        with pytest.raises(StateError, match="sums"):
            one.plus(other)


@given(PAGES, PAGES)
def test_what_comes_then_is_numbered_behind_what_came_first(
    one: list[list[int]], two: list[list[int]]
) -> None:
    first, second = (Memory(len(pages), {"a": _table(pages)}) for pages in (one, two))
    both = first.then(second)
    assert both.pages == len(one + two)
    assert _rows(both.table("a")) == _rows(_table(one + two))
    assert _rows(second.table("a")) == _rows(_table(two))


def test_the_digests_of_a_site_are_seeded_with_its_name() -> None:
    memory = Memory.of_page(a=_table([[1, 2]])).after_page(sequences={"s": _keys([7])})
    one, two = (dump(memory, "m", site=site) for site in ("a.example", "b.example"))
    assert one.partition(b"]}")[2] != two.partition(b"]}")[2]
    again = load(one, "m", site="a.example")
    assert _rows(again.table("a")) == [(1, 1, 1), (2, 1, 1)]
    assert again.sequences["s"].tolist() == [7]
    with pytest.raises(StateError, match=r"of the site 'a\.example', not 'b\.example'"):
        load(one, "m", site="b.example")


def test_a_memory_of_other_settings_is_refused_by_name() -> None:
    written = {"min_count": 5, "tags": ("p", "div")}
    data = dump(Memory(), "m", settings=written)
    assert load(data, "m", settings=written).pages == 0
    assert load(data, "m").pages == 0
    with pytest.raises(StateError, match=r"of m with min_count=5; asked for min_count=3"):
        load(data, "m", settings=written | {"min_count": 3})
    with pytest.raises(StateError, match=r"no extra; asked for extra=1"):
        load(data, "m", settings=written | {"extra": 1})


def test_the_memory_of_one_page_takes_eight_bytes_a_key() -> None:
    few, many = (Memory.of_page(a=_table([list(range(n))])) for n in (100, 200))
    assert len(dump(many, "m")) - len(dump(few, "m")) == 100 * 8


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
        Table()
        .plus(Table.of_page(_keys([5, 3]), 1, _keys([50, 30])))
        .plus(Table.of_page(_keys([4]), 2, _keys([40])))
    )
    memory = Memory(1).after_page(a=table, sequences={"s": _keys([9, 8, 9])})
    again = load(dump(memory, "m"), "m")
    owner = again.table("a").owner
    assert owner is not None
    assert owner.tolist() == [30, 40, 50]
    assert again.sequences["s"].tolist() == [9, 8, 9]
    assert again.size_bytes == 3 * 24 + 3 * 8


def test_owners_are_kept_when_tables_add_up() -> None:
    one = Table().plus(Table.of_page(_keys([1, 3]), 1, _keys([10, 30])))
    two = Table().plus(Table.of_page(_keys([2, 3]), 1, _keys([20, 30])))
    owner = one.plus(two).owner
    assert owner is not None
    assert owner.tolist() == [10, 20, 30]
    assert one.only(np.array([False, True])).owner == _keys([30])


OWNED = st.lists(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=5), max_size=6)


def _owned(pages: list[list[tuple[int, int]]]) -> Table:
    table = Table()
    for page in pages:
        table = table.plus(
            Table.of_page(_keys([key for key, _ in page]), 1, _keys([own for _, own in page]))
        )
    return table


def _with_owners(table: Table) -> list[tuple[int, int, int]]:
    owner = [] if table.owner is None else table.owner.tolist()
    return list(zip(table.keys.tolist(), table.count.tolist(), owner, strict=True))


@given(OWNED, OWNED)
def test_owned_tables_add_up_to_the_same_in_any_order(
    one: list[list[tuple[int, int]]], two: list[list[tuple[int, int]]]
) -> None:
    both = _with_owners(_owned(one).plus(_owned(two)))
    assert both == _with_owners(_owned(two).plus(_owned(one)))
    assert both == _with_owners(_owned(one + two))
    assert both == _with_owners(_owned([page[::-1] for page in (one + two)[::-1]]))


def test_the_least_owner_of_a_key_stays() -> None:
    assert _with_owners(_owned([[(1, 5), (1, 3)], [(1, 4)]])) == [(1, 2, 3)]
    assert _with_owners(_owned([[(1, 5)]]).plus(_owned([[(1, 4)]]))) == [(1, 2, 4)]


def test_keys_with_owners_and_keys_without_do_not_mix() -> None:
    owned, plain = _owned([[(1, 5)]]), _table([[1]])
    for table, owner in ((owned, None), (plain, _keys([5]))):
        with pytest.raises(StateError, match="owners"):
            table.plus(Table.of_page(_keys([2]), 2, owner))
    for one, other in ((owned, plain), (plain, owned)):
        with pytest.raises(StateError, match="owners"):
            one.plus(other)


def test_an_empty_table_or_page_goes_with_both() -> None:
    owned, plain = _owned([[(1, 5)]]), _table([[1]])
    nothing = owned.only(np.array([False]))
    for table in (owned, plain):
        for empty in (Table(), nothing):
            assert _rows(empty.plus(table)) == _rows(table.plus(empty)) == _rows(table)
            assert (empty.plus(table).owner is None) == (table.owner is None)
        assert _rows(table.plus(Table.of_page(_keys([]), 2))) == _rows(table)
        assert (table.plus(Table.of_page(_keys([]), 2)).owner is None) == (table.owner is None)
    assert _rows(nothing.plus(Table.of_page(_keys([4]), 1))) == [(4, 1, 1)]


def test_memories_with_an_order_do_not_add_up() -> None:
    memory = Memory().after_page(sequences={"s": _keys([1])})
    with pytest.raises(StateError, match="do not add up"):
        memory.plus(Memory())


def test_a_memory_of_many_known_pages_is_saved_as_if_it_had_one_table_of_them() -> None:
    digests = [page * 0x9E3779B97F4A7C15 % (1 << 64) for page in range(5_000, 6_000)]
    digests += [digests[-1], digests[3]]  # Two of them once more.
    known = Table.of_page(np.arange(1, 5_001, dtype=np.uint64))
    memory = Memory(5_000, history={KNOWN: known})
    for digest in digests:
        lesson = Memory(1, history={KNOWN: Table.of_page(np.array([digest], np.uint64))})
        known = known.then(lesson.table(KNOWN), memory.pages)
        memory = memory.then(lesson)
        assert (memory.known_pages, memory.size_bytes) == (len(known), known.size_bytes)
    in_one = Memory(memory.pages, history={KNOWN: known})
    assert dump(memory, "auto") == dump(in_one, "auto")
    assert [memory.knows(page) for page in (digests[-3], 1, 5_001)] == [True, True, False]
    assert memory.knows_all(in_one)
    assert in_one.knows_all(memory)


def test_to_know_one_more_page_does_not_copy_all_that_are_known() -> None:
    memory = Memory(50_000, history={KNOWN: Table.of_page(np.arange(50_000, dtype=np.uint64))})
    lesson = Memory(1, history={KNOWN: Table.of_page(np.array([1 << 40], np.uint64))})
    assert memory.then(lesson).history[KNOWN] is memory.history[KNOWN]


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
    body = dump(Memory(), "m")[:-4].replace(b'"version": 2', b'"version": 9')
    with pytest.raises(StateError, match="version 9"):
        load(body + zlib.crc32(body).to_bytes(4, "little"), "m")


def _made(line: bytes, body: bytes = b"") -> bytes:
    """A file with this first line and body whose checksum is right."""
    whole = b"dehusk-memory\n" + line + b"\n" + body
    return whole + zlib.crc32(whole).to_bytes(4, "little")


FIRST_HEADER: dict[str, object] = {
    "version": 1,
    "method": "m",
    "pages": 2,
    "tables": {"a": [2, True], "b": [1, False]},
    "sequences": {"s": 1},
}
HEADER: dict[str, object] = {
    "version": 2,
    "method": "m",
    "settings": {"min_count": 5},
    "site": "",
    "pages": 2,
    "tables": {"a": [2, True, 0, 4, 4, 0], "b": [1, False, 2, 0, 1, 2]},
    "sequences": {"s": 1},
}
FIRST_BODY = b"".join(
    (
        np.array([3, 7], "<u8").tobytes() + np.ones(4, "<u4").tobytes(),
        np.array([1, 2], "<u8").tobytes(),
        np.array([4], "<u8").tobytes() + np.ones(2, "<u4").tobytes(),
        np.array([9], "<u8").tobytes(),
    )
)
BODY = b"".join(
    (
        np.array([3, 7], "<u8").tobytes() + np.ones(4, "<u4").tobytes(),
        np.array([1, 2], "<u8").tobytes(),
        np.array([4], "<u8").tobytes() + b"\2" + np.array([300, 4], "<u2").tobytes(),
        np.array([9], "<u8").tobytes(),
    )
)


def test_a_made_memory_that_is_right_is_read() -> None:
    again = load(_made(json.dumps(HEADER).encode(), BODY), "m")
    assert (again.pages, again.table("a").keys.tolist()) == (2, [3, 7])
    assert _rows(again.table("b")) == [(4, 1, 2)]
    assert _sums(again.table("b")) == [[300, 4]]


def test_a_memory_of_the_first_version_is_read_under_any_site() -> None:
    for site in ("", "grain.example"):
        again = load(_made(json.dumps(FIRST_HEADER).encode(), FIRST_BODY), "m", site=site)
        assert (again.pages, again.table("a").keys.tolist()) == (2, [3, 7])
        assert again.sequences["s"].tolist() == [9]
        assert load(dump(again, "m", site=site), "m", site=site).size_bytes == again.size_bytes


@pytest.mark.parametrize(
    "change",
    [
        {"version": None},
        {"version": True},
        {"version": 1},
        {"version": 2.0},
        {"settings": 1},
        {"site": None},
        {"site": "other"},
        {"method": 1},
        {"pages": "x"},
        {"pages": -1},
        {"pages": True},
        {"pages": 2.0},
        {"pages": 2**32},
        {"tables": []},
        {"tables": {"a": 3}},
        {"tables": {"a": [2, True], "b": [1, False]}},
        {"tables": {"a": [2, 1, 0, 4, 4, 0], "b": [1, False, 2, 0, 1, 2]}},
        {"tables": {"a": [2.0, True, 0, 4, 4, 0], "b": [1, False, 2, 0, 1, 2]}},
        {"tables": {"a": [-2, True, 0, 4, 4, 0], "b": [1, False, 2, 0, 1, 2]}},
        {"tables": {"a": [10**300, True, 0, 4, 4, 0]}},
        {"tables": {"a": [2, True, 0, 4, 4, 0, 0], "b": [1, False, 2, 0, 1, 2]}},
        {"tables": {"a": [2, True, 0, 3, 5, 0], "b": [1, False, 2, 0, 1, 2]}},
        {"tables": {"a": [2, True, 0, 4, 4, 0], "b": [1, False, 0, 0, 1, 4]}},
        {"tables": {"a": [2, True, 0, 4, 4, 0], "b": [1, False, 4, 5, 0, 0]}},
        {"sequences": {"s": "1"}},
        {"sequences": {"s": -1}},
        {"sequences": {"s": [1]}},
        {"sequences": {"s": 2}},
        {"sequences": {}},
        {"extra": 1},
    ],
)
def test_a_first_line_that_does_not_fit_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(StateError):
        load(_made(json.dumps(HEADER | change).encode(), BODY), "m")


@pytest.mark.parametrize("name", HEADER)
def test_a_first_line_with_a_field_missing_is_refused(name: str) -> None:
    left = {key: value for key, value in HEADER.items() if key != name}
    with pytest.raises(StateError):
        load(_made(json.dumps(left).encode(), BODY), "m")


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b"7", b"\xff", b"[" * 100_000, b'{"version": %s}' % (b"9" * 5000)]
)
def test_a_first_line_that_is_no_json_object_is_refused(line: bytes) -> None:
    with pytest.raises(StateError):
        load(_made(line, BODY), "m")


@pytest.mark.parametrize("body", [BODY[:-1], BODY + b"\0", BODY + BODY, b""])
def test_a_memory_of_another_length_than_it_says_is_refused(body: bytes) -> None:
    with pytest.raises(StateError, match="long"):
        load(_made(json.dumps(HEADER).encode(), body), "m")


@pytest.mark.parametrize("keys", [[7, 3], [3, 3]])
def test_keys_out_of_order_are_refused(keys: list[int]) -> None:
    body = np.array(keys, "<u8").tobytes() + BODY[16:]
    with pytest.raises(StateError, match="out of order"):
        load(_made(json.dumps(HEADER).encode(), body), "m")


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "b", "s", "version", "pages"]), inner, max_size=3),
    ),
    max_leaves=6,
)
SMALL = st.integers(0, 3)
MUTATED = st.one_of(
    JSON,
    st.fixed_dictionaries(
        {},
        optional={
            "version": st.one_of(st.just(2), JSON),
            "method": st.one_of(st.just("m"), JSON),
            "pages": st.one_of(SMALL, JSON),
            "tables": st.one_of(
                st.dictionaries(
                    st.text(max_size=2),
                    st.tuples(SMALL, st.booleans(), SMALL, SMALL, SMALL, SMALL),
                    max_size=2,
                ),
                JSON,
            ),
            "sequences": st.one_of(st.dictionaries(st.text(max_size=2), SMALL, max_size=2), JSON),
        },
    ).map(lambda changed: HEADER | changed),
)


@given(MUTATED, st.one_of(st.just(BODY), st.binary(max_size=100), st.integers(0, 9).map(bytes)))
def test_a_made_memory_is_refused_or_works(header: object, body: bytes) -> None:
    try:
        memory = load(_made(json.dumps(header).encode(), body), "m")
    except StateError:
        return
    again = load(dump(memory, "m"), "m")
    assert again.size_bytes == memory.size_bytes
    for table in memory.tables.values():
        assert table.counts_of(table.keys).tolist() == table.count.tolist()


@given(st.integers(0, 200), st.binary(max_size=3), st.integers(0, 3))
def test_a_changed_first_line_is_refused_or_works(place: int, put: bytes, cut: int) -> None:
    line = json.dumps(HEADER).encode()
    try:
        memory = load(_made(line[:place] + put + line[place + cut :], BODY), "m")
    except StateError:
        return
    assert len(memory.table("a")) in (0, 2)


def test_arrays_that_are_no_table_are_refused() -> None:
    ones = np.ones(2, np.uint32)
    with pytest.raises(ValueError, match="rise"):
        Table(_keys([2, 1]), ones, ones)
    with pytest.raises(ValueError, match="counted"):
        Table(_keys([1, 2]), ones)
    with pytest.raises(ValueError, match="fit"):
        Table(_keys([1, 2]), ones[:1], ones)
    with pytest.raises(ValueError, match="fit"):
        Table.of_page(_keys([1, 2]), sums=np.ones((3, 2), np.uint64))
    with pytest.raises(ValueError, match="flag"):
        _table([[1, 2]]).only(np.ones(3, np.bool_))
    with pytest.raises(TypeError):
        Table().plus({})  # type: ignore[arg-type]


@given(PAGES, PAGES, st.sampled_from([0, 1, 7]))
def test_later_pages_are_numbered_on(
    first: list[list[int]], second: list[list[int]], pages: int
) -> None:
    later = _table(second)
    moved = Table(later.keys, later.count, later.last + np.uint32(pages))
    assert _rows(_table(first).then(later, pages)) == _rows(_table(first).plus(moved))


def test_a_memory_that_was_saved_goes_on_as_one_that_was_not() -> None:
    method, kept, saved = Auto(base_life=4.0), Memory(), Memory()
    for page in sample_site("docs", pages=8):
        tree = parse(page.page).tree
        kept, saved = method.learn(kept, tree), method.learn(saved, tree)
        assert dump(kept, "auto") == dump(saved, "auto")
        assert method.score(kept, tree).tobytes() == method.score(saved, tree).tobytes()
        saved = carried(carry(load(dump(saved, "auto"), "auto")))


def _with_checksum(whole: bytes) -> bytes:
    return whole + zlib.crc32(whole).to_bytes(4, "little")


@pytest.mark.parametrize("name", ["segments", "style-tree", "auto"])
@pytest.mark.parametrize("pages", [0, 2**31, 2**32 - 1])
def test_a_memory_made_by_hand_of_impossible_pages_is_refused(name: str, pages: int) -> None:
    site = Site(method=name)
    for number in range(3):
        site.learn(f"<nav>Home</nav><p>{number}</p>")
    whole = site.dump()[:-4].replace(b'"pages": 3', b'"pages": %d' % pages)
    with pytest.raises(StateError, match="damaged memory"):
        Site(method=name).load(_with_checksum(whole))


@pytest.mark.parametrize("sizes", [[2**40, 1, 1], [3, 0, 1], [2, 2, 1], [3, 1], [2**64 - 1, 1, 1]])
def test_a_template_made_by_hand_that_is_no_tree_is_refused(sizes: list[int]) -> None:
    sequences = {
        "labels": np.arange(3, dtype=np.uint64),
        "sizes": np.array(sizes, np.uint64),
        "merged": np.array([2], np.uint64),
    }
    site = Site(method="rtdm")
    site.load(dump(Memory(2, sequences=sequences), "rtdm"))
    with pytest.raises(StateError, match="no tree"):
        site.add("<nav>Home</nav><p>1</p>")


def _made_by_hand(state: bytes, dice: random.Random) -> bytes:
    """A saved memory with other numbers in it, and the checksum of these."""
    line, _, arrays = state[:-4].partition(b"\n")[2].partition(b"\n")
    header, body = json.loads(line), bytearray(arrays)
    if dice.random() < 0.25:
        header["pages"] = dice.choice([0, 1, 10**6, 2**31 - 1])
    for _ in range(dice.choice([1, 3, 20])):
        place, width = dice.randrange(len(body)) & ~7, dice.choice([1, 4, 8])
        number = dice.choice([0, 1, 2, 2**31, 2**32 - 1, 2**63, dice.getrandbits(64)])
        body[place : place + width] = number.to_bytes(8, "little")[: len(body[place:][:width])]
    first = state.partition(b"\n")[0]
    return _with_checksum(b"\n".join((first, json.dumps(header).encode(), bytes(body))))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["auto", "segments", "style-tree", "rtdm", "chunks", "site-hash"])
def test_a_memory_made_by_hand_ends_in_an_answer_or_a_typed_error(name: str) -> None:
    site = Site(method=name)
    page = "<nav>Home <a href=/>News</a></nav><table><tr><td>{0}</table><p>Harvest of {0}</p>"
    for number in range(6):
        site.learn(page.format(number))
    state = site.dump()
    for seed in range(40):
        hostile = Site(method=name)
        with suppress(StateError):
            hostile.load(_made_by_hand(state, random.Random(seed)))
            for number in (3, 9):
                hostile.add(page.format(number))
            hostile.dump()
