"""What the papers print, to stand beside what dehusk measures. Sites and collections by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as a paper has it."""

    source: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


_T: Final = "000 (thesis on hyperlink analysis)"
_P: Final = "001 (LNCS 9609, 2016)"

PAPER_TABLES: Final[dict[str, tuple[PaperTable, ...]]] = {
    "teco": (
        PaperTable(
            f"{_P}, table 1; {_T}, table 5.1 (time: 5.3): means over 40 key pages of TECO",
            ("", "nodes", "template", "retrieved", "recall", "precision", "F1", "loads", "ms"),
            (
                ("001", "1444", "499", "492", "0.954", "0.964", "0.956", "10.1", "14226"),
                ("000", "1458", "497", "480", "0.935", "0.962", "0.943", "–", "10400"),
            ),
        ),
        PaperTable(
            f"{_T}, table 6.2: means over the same key pages",
            ("", "nodes", "template", "main content"),
            (("000", "1444.3", "499.1", "788.0"),),
        ),
    ),
    "teco-grid": (
        PaperTable(
            f"{_T}, section 5.2.1: 23,936 combinations on each of 20 key pages to train on",
            ("", "precision", "recall", "F1"),
            (
                ("all, on average", "0.634", "0.949", "0.672"),
                ("the best", "0.935", "0.962", "0.943"),
            ),
        ),
    ),
    "teco-links": (
        PaperTable(
            f"{_T}, table 6.3, all 40 key pages of TECO: links of the menu (VL), to pages that have"
            " the template whole (TT), in part (PT), not at all (DT)",
            ("", "VL", "TT", "PT", "DT"),
            (("all", "1243", "1136", "105", "2"),),
        ),
    ),
    "teco-sweep": (
        PaperTable(
            f"{_T}, table 5.2: F1 by size (columns) and votes (rows)",
            ("votes", "1", "2", "3", "4", "5", "6", "7", "8"),
            (
                ("1", ".759", ".892", ".890", ".868", ".868", ".863", ".861", ".861"),
                ("2", "", ".882", ".924", ".921", ".921", ".938", ".933", ".932"),
                ("3", "", "", ".883", ".928", ".928", ".925", ".922", ".941"),
                ("4", "", "", "", ".870", ".928", ".922", ".925", ".946"),
                ("5", "", "", "", "", ".866", ".919", ".923", ".927"),
                ("6", "", "", "", "", "", ".865", ".909", ".917"),
                ("7", "", "", "", "", "", "", ".836", ".905"),
                ("8", "", "", "", "", "", "", "", ".835"),
            ),
        ),
        PaperTable(
            f"{_T}, table 5.3: seconds by size (columns) and votes (rows)",
            ("votes", "1", "2", "3", "4", "5", "6", "7", "8"),
            (
                ("1", "3", "6.1", "10.7", "13.1", "15.9", "21.2", "23.1", "22.7"),
                ("2", "", "4.9", "10.4", "12.7", "15.4", "20.8", "22.4", "22.7"),
                ("3", "", "", "6.9", "12.7", "15.5", "20.7", "22.4", "22.7"),
                ("4", "", "", "", "8.8", "15.4", "20.7", "22.5", "22.8"),
                ("5", "", "", "", "", "10.6", "20.7", "22.4", "22.8"),
                ("6", "", "", "", "", "", "13.3", "22.5", "22.8"),
                ("7", "", "", "", "", "", "", "15.0", "22.7"),
                ("8", "", "", "", "", "", "", "", "16.0"),
            ),
        ),
        PaperTable(
            f"{_P}, table 2: the best number of votes for each size",
            ("size", "votes", "recall", "precision", "F1", "loads"),
            (
                ("1", "1", "0.886", "0.949", "0.887", "2.0"),
                ("2", "1", "0.963", "0.903", "0.919", "5.6"),
                ("3", "2", "0.954", "0.964", "0.956", "10.1"),
                ("4", "3", "0.946", "0.969", "0.953", "16.5"),
                ("5", "3", "0.947", "0.970", "0.954", "18.7"),
                ("6", "3", "0.952", "0.968", "0.957", "23.7"),
                ("7", "3", "0.955", "0.963", "0.956", "30.0"),
                ("8", "4", "0.951", "0.966", "0.955", "32.1"),
            ),
        ),
    ),
    "storage": (
        PaperTable(
            "002 (WWW 2008), table 1: average storage at a recall of 0.8, five sites of 400 pages",
            ("", "segments", "shingle (`chunks`)", "SST (`style-tree`)"),
            (
                ("site 1", "419 kB", "5739 kB", "4947 kB"),
                ("site 2", "126 kB", "2754 kB", "2295 kB"),
                ("site 3", "139 kB", "5225 kB", "4522 kB"),
                ("site 4", "386 kB", "3073 kB", "3210 kB"),
                ("site 5", "50 kB", "1294 kB", "1534 kB"),
                ("mean", "224 kB", "3617 kB", "3302 kB"),
                ("saved", "", "93.8 %", "93.2 %"),
            ),
        ),
    ),
    "chunks-tables": (
        PaperTable(
            "004 (CIKM 2003), tables 1 and 2",
            ("", "pages", "kB", "ms/kB", "atf", "ttdr"),
            (
                ("collection 1", "8", "341", "5.0", "34.1 %", "1.00"),
                ("collection 2", "11", "486", "4.6", "18.1 %", "0.86"),
                ("collection 3", "9", "477", "4.6", "17.8 %", "1.00"),
                ("collection 4", "41", "2370", "4.5", "22.5 %", "1.00"),
                ("collection 5", "13", "759", "4.0", "19.3 %", "1.00"),
                ("collection 6", "8", "132", "7.6", "54.1 %", "1.00"),
                ("collection 7", "16", "355", "4.4", "19.3 %", "1.00"),
                ("collection 8", "9", "385", "5.8", "29.3 %", "1.00"),
            ),
        ),
        PaperTable(
            "004, figures 3 and 4, as its text tells them, on collection 5 and (last row) 4",
            ("", "ttdr"),
            (
                ("threshold 4, 13 of 13 pages", "1.00"),
                ("threshold 3, 13 of 13 pages", "1.17"),
                ("threshold 4, 9 of 13 pages", "0.86"),
                ("threshold 4, 9 of 41 pages, in 27 % of the time", "1.00"),
            ),
        ),
    ),
}
"""By experiment. Those of 003 stand in the experiments' own tables."""
