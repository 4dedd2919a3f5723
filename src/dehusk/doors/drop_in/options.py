"""What trafilatura's options ask for, and which of them dehusk has no answer to."""

from __future__ import annotations

from configparser import ConfigParser
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from dehusk.errors import UsageError
from dehusk.settings import Limits

_DATE_PARAMETERS: Final = ("original_date", "extensive_search", "max_date")
_DATES: Final = {"original_date": True}


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked for, under the names that trafilatura's `Extractor` has for it."""

    format: str = "txt"
    focus: str = "balanced"
    comments: bool = True
    formatting: bool = False
    links: bool = False
    images: bool = False
    tables: bool = True
    dedup: object = False
    lang: str | None = None
    url: str | None = None
    with_metadata: bool = False
    only_with_metadata: bool = False
    date_params: dict[str, Any] = field(default_factory=lambda: dict(_DATES))
    author_blacklist: set[str] = field(default_factory=set)
    url_blacklist: set[str] = field(default_factory=set)
    min_output_size: int = 1
    max_file_size: int = Limits().max_bytes

    @property
    def is_markdown(self) -> bool:
        """Is the text to have marks? trafilatura marks links and images by Markdown too."""
        return self.formatting or self.links or self.images


def read_options(given: dict[str, Any]) -> Options:
    """What the arguments of a call ask for. Raises UsageError for what nobody here can do."""
    _refuse(given)
    if (options := given["options"]) is not None:
        chosen = Options(**{each.name: getattr(options, each.name) for each in fields(Options)})
    else:
        chosen = _asked(given)
    if chosen.dedup:
        raise UsageError(
            "deduplicate: dehusk.Seen tells pages that nearly repeat others, and dehusk.Site what"
            " pages of a site repeat"
        )
    asks = chosen.only_with_metadata or chosen.author_blacklist or chosen.url_blacklist
    return replace(
        chosen,
        with_metadata=bool(chosen.with_metadata or asks),
        date_params=read_date_params(chosen.date_params),
    )


def _refuse(given: dict[str, Any]) -> None:
    """Raise UsageError for what dehusk has no answer to."""
    if given["prune_xpath"] is not None:
        raise UsageError("prune_xpath: dehusk takes CSS: dehusk.extract(html, drop='.selector')")
    if given["max_tree_size"]:
        raise UsageError("max_tree_size: dehusk.extract takes limits=dehusk.Limits(max_nodes=…)")
    if given.get("tei_validation"):
        raise UsageError("tei_validation: dehusk writes no TEI")


def _asked(given: dict[str, Any]) -> Options:
    """What the arguments of a call ask for, by their names in `Options`."""
    focus = "recall" if given["favor_recall"] else "precision" if given["favor_precision"] else ""
    marks, file = given["include_formatting"], given.get("settingsfile")
    return Options(
        format=given["output_format"],
        focus=focus or "balanced",
        comments=given["include_comments"],
        formatting=given["output_format"] == "markdown" if marks is None else marks,
        links=given["include_links"],
        images=given["include_images"],
        tables=given["include_tables"],
        dedup=given["deduplicate"],
        lang=given["target_language"],
        url=given["url"],
        with_metadata=given["with_metadata"],
        only_with_metadata=given["only_with_metadata"],
        date_params=given["date_extraction_params"] or dict(_DATES),
        author_blacklist=given["author_blacklist"] or set(),
        url_blacklist=given["url_blacklist"] or set(),
        **read_sizes(_read_config(file) if file else given["config"]),
    )


def read_date_params(given: dict[str, Any] | None) -> dict[str, Any]:
    """How dates are to be read. Raises UsageError for what htmldate could do."""
    wrong = (given or {}).keys() - _DATE_PARAMETERS
    if wrong:
        raise UsageError(
            f"date_extraction_params: there is no {', '.join(sorted(wrong))}, only"
            f" {', '.join(_DATE_PARAMETERS)}"
        )
    return given or dict(_DATES)


def _read_config(file: str) -> ConfigParser:
    """The settings in a file. Raises UsageError where there is none."""
    config = ConfigParser()
    if not config.read(file, encoding="utf-8"):
        raise UsageError(f"settingsfile={file!r}: cannot be read")
    return config


def read_sizes(config: ConfigParser | None) -> dict[str, Any]:
    """What a file of trafilatura's settings says that dehusk has too."""
    if config is None:
        return {}
    usual = Options()
    names = {"max_file_size": usual.max_file_size, "min_output_size": usual.min_output_size}
    return {
        name: config.getint("DEFAULT", name.upper(), fallback=value)
        for name, value in names.items()
    }
