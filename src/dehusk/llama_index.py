"""Where LlamaIndex's users find the reader: `from dehusk.llama_index import DehuskReader`."""

from dehusk.doors.llama_index import DehuskReader

__all__ = ["DehuskReader"]
