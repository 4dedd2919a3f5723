"""The sample sites of `dehusk demo`. Run as a program, it writes those that are shipped."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from typing import Final

from dehusk.doors.cli.demo import PAGES, SAMPLES, SEED, Sample
from dehusk_bench.samples import KINDS, sample_site
from dehusk_bench.samples.folder import file_names

_LANGS: Final = {"town": "de", "blog": "fr"}
"""Sites that are not English, to show that nothing depends on it."""


def samples(pages: int, seed: int) -> Iterator[Sample]:
    """The first pages of a site of each kind, site by site."""
    for kind in KINDS:
        site = sample_site(kind, pages=pages, seed=seed, lang=_LANGS.get(kind, "en"))
        for name, sample in file_names(site):
            page = sample.page
            assert isinstance(page.html, str)
            yield Sample(
                folder=kind, file=name, site=str(page.site), url=str(page.url), html=page.html
            )


def main() -> None:
    """Write the sites that are shipped."""
    preset = 9 | lzma.PRESET_EXTREME
    with lzma.open(SAMPLES, "wt", encoding="utf-8", preset=preset) as lines:
        lines.writelines(
            json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples(PAGES, SEED)
        )


if __name__ == "__main__":
    main()
