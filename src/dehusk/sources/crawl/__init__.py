"""Pages out of the web: polite, safe against hostile servers, and able to go on where it stopped.

scope             which URLs are wanted
frontier, state   which comes next, and what is remembered of all that
network, fetch    asking for them
addresses         what may be connected to
robots, sitemaps  what sites say to crawlers
judge             what an answer comes to
crawler           the way from one to the next
linked            pages that a method asks for, one by one
"""

from importlib.util import find_spec

from dehusk.errors import MissingExtra

if not all(map(find_spec, ("httpcore2", "protego", "w3lib"))):
    raise MissingExtra("reading the web", "crawl")
