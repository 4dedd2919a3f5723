"""The search for pages that link each other: Algorithm 2 of seed 000, section 2.2.5."""

from __future__ import annotations

from itertools import chain, combinations

from hypothesis import given
from hypothesis import strategies as st

from dehusk.methods.papers.hyperlink.subdigraph import Search, Step, find_subdigraph

Graph = dict[str, frozenset[str]]


def _search(graph: Graph, size: int, order: list[str] | None = None) -> Search:
    steps = [Step(url, size) for url in order or sorted(graph)]
    return find_subdigraph(steps, graph.get)


def _literal_algorithm_2(graph: Graph, size: int, links: list[str]) -> tuple[list[str], int]:
    """The listing: all subsets of the loaded links; of equally great ones the first loaded."""
    best: list[str] = []
    processed: list[str] = []
    for link in links:
        processed.append(link)
        subsets = chain.from_iterable(
            combinations(processed, count) for count in range(1, len(processed) + 1)
        )
        complete = [
            list(subset)
            for subset in subsets
            if link in subset
            and all(b in graph[a] and a in graph[b] for a, b in combinations(subset, 2))
        ]
        maximal = max(complete, key=len)
        if len(maximal) == size:
            return maximal, len(processed)
        if len(maximal) > len(best):
            best = maximal
    return best, len(processed)


_PAGES = [f"p{number}" for number in range(7)]


@given(
    st.lists(st.sets(st.sampled_from(_PAGES)), min_size=7, max_size=7),
    st.integers(1, 5),
    st.permutations(_PAGES),
)
def test_the_search_finds_what_the_printed_algorithm_2_finds(
    targets: list[set[str]], size: int, order: list[str]
) -> None:
    graph = {url: frozenset(found - {url}) for url, found in zip(_PAGES, targets, strict=True)}
    search = _search(graph, size, order)
    assert (list(search.chosen), len(search.loaded)) == _literal_algorithm_2(graph, size, order)


def _complete(*pages: str) -> Graph:
    return {url: frozenset(pages) - {url} for url in pages}


def test_the_search_stops_with_the_first_complete_subdigraph() -> None:
    search = _search(_complete("a", "b", "c", "d", "e"), 3)
    assert search.chosen == search.loaded == ("a", "b", "c")


def test_without_one_of_that_size_the_biggest_is_given_by_000_algorithm_2() -> None:
    graph = {**_complete("a", "c"), "b": frozenset("ac"), "d": frozenset("abc")}
    search = _search(graph, 3)
    assert search.chosen == ("a", "c")
    assert search.loaded == ("a", "b", "c", "d")


def test_a_single_page_is_a_subdigraph_of_size_1() -> None:
    assert _search({"a": frozenset("b"), "b": frozenset()}, 3).chosen == ("a",)


def test_links_that_lead_nowhere_are_told_apart_from_loads() -> None:
    search = _search(_complete("a", "c"), 2, ["x", "a", "y", "c"])
    assert search == Search(("a", "c"), ("a", "c"), ("x", "y"))


def test_a_step_that_needs_less_ends_the_search_earlier() -> None:
    graph = _complete("a", "b", "c")
    steps = [Step("a", 3), Step("b", 3), Step("c", 2)]
    assert find_subdigraph(steps, graph.get).loaded == ("a", "b")


def test_many_pages_in_few_groups_take_no_time() -> None:
    """In the Turán graph every page is in millions of sets of seven, and in none of eight."""
    pages = [f"{number:03}" for number in range(200)]
    graph = {
        url: frozenset(other for other in pages if int(other) % 7 != int(url) % 7) for url in pages
    }
    search = _search(graph, 8)
    assert len(search.chosen) == 7
    assert len(search.loaded) == 200


def test_a_graph_that_was_built_to_be_hard_ends_with_what_was_found() -> None:
    state, pages = 1, [f"{number:03}" for number in range(150)]
    linked: dict[str, set[str]] = {url: set() for url in pages}
    for one, other in combinations(pages, 2):
        state = state * 48271 % 0x7FFFFFFF
        if state % 100 < 70:
            linked[one].add(other)
            linked[other].add(one)
    search = _search({url: frozenset(found) for url, found in linked.items()}, 40)
    assert all(b in linked[a] for a, b in combinations(search.chosen, 2))
    assert len(search.chosen) > 5
