"""What all that the viewer answers has in common: its state, its thread, who looks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, Any

from fastapi import Query, Request

from dehusk.answer.result import Result
from dehusk.doors.service.frames import ViewerState
from dehusk.doors.service.judges import JudgeName
from dehusk.doors.service.server import Failed
from dehusk.template.viewing import ViewedSite

Number = Annotated[int, Query(ge=0, le=10**9)]
Seen = Annotated[int | None, Query(ge=0, le=10**9)]
Judge = Annotated[JudgeName, Query(description="Who looks; '' for nobody named.")]


def state_of(request: Request) -> ViewerState:
    """What the viewer works with."""
    state: ViewerState = request.app.state.viewer
    return state


def in_thread(work: Callable[..., Any]) -> Callable[..., Any]:
    """A handler whose work is done by the viewer's thread."""

    @wraps(work)
    async def answer(**given: Any) -> Any:
        return await state_of(given["request"]).thread.do(partial(work, **given))

    return answer


def result_on(state: ViewerState, page: int, seen: int | None = None, judge: str = "") -> Result:
    """The answer on a page, as a judge sees it. Raises Failed where there is none, PageError."""
    if page >= len(state.viewed.pages):
        raise Failed(404, "no_page", "there is no such page")
    return state.viewed.result(page, seen, judge)


def site_named(state: ViewerState, name: str) -> ViewedSite:
    """The site of that name. Raises Failed where there is none."""
    site = state.viewed.sites.get(name)
    if site is None:
        raise Failed(404, "no_site", "there is no such site")
    return site


def rules_of(state: ViewerState, site: str) -> list[dict[str, str]]:
    """The rules of a site, as the viewer shows them."""
    rules = state.viewed.memories.rules(site)
    return [{"id": r.id, "action": str(r.action), "selector": r.selector} for r in rules]


def corrections_on(state: ViewerState, page: int, judge: str) -> list[dict[str, str]]:
    """What a judge corrected on a page alone, as the viewer shows it."""
    own = state.viewed.corrections.get((judge, page))
    if own is None:
        return []
    both = [("keep", selector) for selector in own.keep] + [("drop", css) for css in own.drop]
    return [{"action": action, "selector": selector} for action, selector in both]
