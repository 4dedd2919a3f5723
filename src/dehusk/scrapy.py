"""Where Scrapy finds the add-on: `ADDONS = {"dehusk.scrapy.Addon": 500}`."""

from dehusk.doors.scrapy import Addon, Answers, NearDuplicate, Unchanged

__all__ = ["Addon", "Answers", "NearDuplicate", "Unchanged"]
