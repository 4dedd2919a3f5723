"""Old names of lessons, for code that has not moved to them yet."""

from dehusk.memory.lessons import Lessons as Learner
from dehusk.memory.lessons import is_known, method_of, page_digest

__all__ = ["Learner", "is_known", "method_of", "page_digest"]
