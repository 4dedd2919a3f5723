"""dehusk over HTTP: `dehusk serve`. A door: it decides nothing about pages.

    guard ─► app ─► service ─► workers.pool ─► acts        one process for HTTP and the memory,
    who may   what   memory     which worker    the library    as many as wanted for the pages

Needs the install extra `serve`; nothing here is imported before somebody asks for it.
"""
