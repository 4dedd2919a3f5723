"""Where LangChain's users find the loader: `from dehusk.langchain import DehuskLoader`."""

from dehusk.doors.langchain import DehuskLoader

__all__ = ["DehuskLoader"]
