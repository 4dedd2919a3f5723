"""The application behind the viewer's page: what is shown, what is corrected, what happens."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.responses import StreamingResponse
from starlette.staticfiles import StaticFiles

from dehusk import __version__
from dehusk.doors.service import corrected, shown
from dehusk.doors.service.asking import state_of
from dehusk.doors.service.failures import add_failures
from dehusk.doors.service.frames import ViewerState

router = APIRouter()
_STATIC: Final = files("dehusk.doors.service").joinpath("static")


def make_viewer(state: ViewerState) -> FastAPI:
    """The application of the viewer's own page."""
    app = FastAPI(title="dehusk view", version=__version__, docs_url=None, redoc_url=None)
    app.state.viewer = state
    for part in (shown, corrected):
        app.include_router(part.router)
    app.include_router(router)
    add_failures(app)
    app.mount("/", StaticFiles(directory=str(_STATIC), html=True))
    return app


@router.get("/api/events")
async def events(request: Request) -> Response:
    """What happens: `picked` in the frame of a tab, `changed` by anybody."""
    return StreamingResponse(state_of(request).listeners.listen(), media_type="text/event-stream")
