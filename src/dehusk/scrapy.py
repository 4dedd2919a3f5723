"""Where Scrapy finds the add-on: `ADDONS = {"dehusk.scrapy.Addon": 500}`."""

from dehusk.errors import MissingExtra

try:
    from dehusk.doors.scrapy import Addon, Answers, NearDuplicate, Unchanged
except ModuleNotFoundError as missing:
    raise MissingExtra("dehusk.scrapy", "scrapy") from missing

__all__ = ["Addon", "Answers", "NearDuplicate", "Unchanged"]
