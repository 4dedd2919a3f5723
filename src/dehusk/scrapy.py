"""Where Scrapy finds the add-on: `ADDONS = {"dehusk.scrapy.Addon": 500}`."""

from dehusk.doors.documents import check_installed

check_installed("scrapy", "dehusk.scrapy", "scrapy")

from dehusk.doors.scrapy import Addon, Answers, NearDuplicate, Unchanged  # noqa: E402

__all__ = ["Addon", "Answers", "NearDuplicate", "Unchanged"]
