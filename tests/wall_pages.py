# ruff: noqa: E501
"""Pages that nobody wanted, and short pages that look a little like them, in many languages."""

from __future__ import annotations

from typing import Final, NamedTuple


class WallPage(NamedTuple):
    """A page, and the problem that it is."""

    kind: str | None
    name: str
    html: str


_NAV: Final = (
    '<header><a href="/"><img src="/logo.png" alt="Hollow Oak"></a><nav><ul><li><a href="/news">'
    'News</a></li><li><a href="/shop">Shop</a></li><li><a href="/about">About us</a></li><li>'
    '<a href="/contact">Contact</a></li></ul></nav></header>'
)
_FOOTER: Final = (
    "<footer><p>© 2024 Hollow Oak Ltd. All rights reserved.</p><ul><li><a href='/imprint'>Imprint"
    "</a></li><li><a href='/privacy'>Privacy</a></li></ul></footer>"
)


def _page(title: str, body: str, *, head: str = "", lang: str = "en") -> str:
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>'
        f"{head}</head><body>{body}</body></html>"
    )


def _framed(title: str, main: str, *, head: str = "", lang: str = "en") -> str:
    """A page with the frame of its site around it."""
    return _page(
        f"{title} | Hollow Oak", f"{_NAV}<main>{main}</main>{_FOOTER}", head=head, lang=lang
    )


def _login(title: str, user: str, password: str, button: str, lang: str) -> str:
    """A page with a form for a name and a password."""
    form = (
        f"<form action='/session' method='post'><h1>{title}</h1><label>{user} <input name='u'></label>"
        f"<label>{password} <input type='password' name='p'></label><button>{button}</button></form>"
    )
    return _framed(title, form, lang=lang)


def _consent(title: str, text: str, refuse: str, accept: str, lang: str) -> str:
    """A page that is a question for consent."""
    body = (
        f"<div class='dialog'><h1>{title}</h1><p>{text}</p><form method='post'>"
        f"<button name='no'>{refuse}</button><button name='yes'>{accept}</button></form></div>"
    )
    return _page("Hollow Oak", body, lang=lang)


def _article(teaser: str, sale: str, *, head: str = "", lang: str = "en") -> str:
    """The beginning of an article, and what sells the rest."""
    story = f"<article><h1>The ferry that came back</h1><p>{teaser}</p></article>"
    return _framed(
        "The ferry that came back", f"{story}<div class='offer'>{sale}</div>", head=head, lang=lang
    )


_TEASER: Final = (
    "When the old ferry left the harbour of Lunde in 1974, nobody on the quay thought that it would"
    " ever be seen again. Last week it lay there, freshly painted, with a brass band on its deck."
    " The story of its return begins in a shipyard in Portugal, with a letter and a set of keys."
)
_TEASER_DE: Final = (
    "Als die alte Fähre 1974 den Hafen von Lunde verließ, glaubte am Kai niemand, dass man sie je"
    " wiedersehen würde. Vorige Woche lag sie frisch gestrichen da, mit einer Blaskapelle an Deck."
)
_TEASER_FR: Final = (
    "Quand le vieux bac a quitté le port de Lunde en 1974, personne sur le quai ne pensait le revoir"
    " un jour. La semaine dernière il était là, repeint de frais, une fanfare sur le pont."
)
_PAID: Final = (
    '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "NewsArticle",'
    ' "headline": "The ferry that came back", "isAccessibleForFree": false}</script>'
)

BOTS: Final = (
    ("a challenge", _page("Just a moment...", "<h1>hollow-oak.example</h1><p>We are making sure that you are human. This takes a few seconds.</p><p>hollow-oak.example reviews your connection before it goes on.</p>", head="<script>window._cf_chl_opt={}</script>")),
    ("a challenge without words", _page("hollow-oak.example", "<div id='box'></div><script>var anubis_challenge = 1;</script>")),
    ("access denied", _page("Access Denied", "<h1>Access Denied</h1><p>You don't have permission to access this page on this server.</p><p>Reference #18.2f3c</p>")),
    ("bare 403", _page("403 Forbidden", "<center><h1>403 Forbidden</h1></center><hr><center>webserver/1.2</center>")),
    ("are you a robot", _page("Hollow Oak - Are you a robot?", "<h2>To continue, tick the box below</h2><div class='g-recaptcha'></div><p>We noticed unusual activity from your network, reference 77c-1.</p>")),
    ("blocked, with a frame", _framed("Request blocked", "<h1>Sorry, you have been blocked</h1><p>This site uses a service that protects it from attacks. What you just did set it off. You can write to the owner and say what you were doing.</p>")),
    ("too many requests", _page("Too Many Requests", "<h1>Slow down</h1><p>You have sent too many requests in a short time. Try it again in a minute.</p>")),
    ("checking the browser", _page("hollow-oak.example", "<noscript>Turn on JavaScript.</noscript><h1>Checking your browser</h1><p>This happens by itself. You will be led to the page in 5 seconds.</p>")),
    ("German", _page("Sicherheitsüberprüfung", "<h1>Einen Moment bitte</h1><p>Bitte bestätigen Sie, dass Sie kein Roboter sind.</p><p>Vorgang 4711</p>", lang="de")),
    ("French", _page("Accès refusé", "<h1>Votre accès a été bloqué</h1><p>Une activité inhabituelle a été détectée depuis votre réseau.</p>", lang="fr")),
    ("Spanish", _page("Un momento", "<h1>Confirma que eres humano</h1><p>Resuelve la prueba para seguir. Esto protege nuestro sitio.</p>", lang="es")),
    ("Italian", _page("Verifica di sicurezza", "<h1>Verifica di sicurezza</h1><p>Conferma di non essere un robot per proseguire.</p>", lang="it")),
    ("Russian", _page("Доступ ограничен", "<h1>Подтвердите, что вы не робот</h1><p>С вашего адреса приходит слишком много запросов.</p>", lang="ru")),
    ("Japanese", _page("セキュリティチェック", "<h1>確認</h1><p>ロボットではないことを確認してください。</p>", lang="ja")),
    ("Chinese", _page("安全验证", "<p>您的访问过于频繁,请完成验证后继续访问。</p>", lang="zh")),
    ("Polish", _page("Odmowa dostępu", "<h1>Odmowa dostępu</h1><p>Potwierdź, że nie jesteś robotem.</p>", lang="pl")),
    ("Portuguese", _page("Acesso bloqueado", "<h1>Acesso bloqueado</h1><p>O seu endereço fez pedidos demais.</p>", lang="pt")),
)  # fmt: skip
CONSENTS: Final = (
    ("English", _consent("Before you continue", "We and our 214 partners store cookies on your device, and read them, to measure what is looked at and to choose ads. You can say no, or change your mind at any time.", "Reject all", "Accept all", "en")),
    ("without a title", _page("Hollow Oak", "<div><p>Hollow Oak is free to read because ads pay for it. With your consent, we and our partners use cookies and handle personal data such as your address on the net to show ads that fit.</p><p>If you do not want cookies, you can take a subscription without ads.</p><button>Agree and continue</button><a href='/plus'>Subscribe</a></div>")),
    ("German", _consent("Ihre Privatsphäre", "Wir und unsere Partner speichern Cookies auf Ihrem Gerät und verarbeiten personenbezogene Daten, um Werbung auszuwählen und zu messen, was gelesen wird.", "Alle ablehnen", "Alle akzeptieren", "de")),
    ("French", _consent("Votre vie privée", "Avec votre consentement, nous et nos partenaires utilisons des cookies pour choisir les publicités et mesurer ce qui est lu.", "Tout refuser", "Tout accepter", "fr")),
    ("Spanish", _consent("Tu privacidad", "Con tu consentimiento, nosotros y nuestros socios usamos cookies para elegir anuncios y medir lo que se lee.", "Rechazar todo", "Aceptar todo", "es")),
    ("Dutch", _consent("Voordat je verdergaat", "Wij en onze partners gebruiken cookies om advertenties te kiezen en te meten wat er wordt gelezen.", "Alles weigeren", "Alles accepteren", "nl")),
)  # fmt: skip
LOGINS: Final = (
    ("English", _login("Sign in", "E-mail", "Password", "Sign in", "en")),
    ("German", _login("Anmelden", "E-Mail-Adresse", "Passwort", "Anmelden", "de")),
    ("French", _login("Connexion", "Adresse e-mail", "Mot de passe", "Se connecter", "fr")),
    ("Spanish", _login("Iniciar sesión", "Correo", "Contraseña", "Entrar", "es")),
    ("Japanese", _login("ログイン", "メール", "パスワード", "ログイン", "ja")),
    ("Finnish, a word unknown", _login("Tervetuloa", "Sähköposti", "Salasana", "Jatka", "fi")),
    ("members only", _framed("Minutes of the board", "<h1>Minutes of the board</h1><p>You must be logged in to view this page.</p><p><a href='/login'>Log in</a> or <a href='/join'>become a member</a>.</p>")),
    ("Polish, members only", _framed("Protokół", "<h1>Protokół zarządu</h1><p>Musisz być zalogowany, żeby to przeczytać.</p>", lang="pl")),
    ("Chinese, members only", _framed("会议记录", "<h1>会议记录</h1><p>请先登录后查看本页内容。</p>", lang="zh")),
)  # fmt: skip
PAYWALLS: Final = (
    ("English", _article(_TEASER, "<h2>Subscribe to continue reading</h2><p>Three months for one euro.</p><a href='/plus'>See offers</a>")),
    ("stated for machines", _article(_TEASER, "<p>Already a subscriber? <a href='/login'>Log in</a></p>", head=_PAID)),
    ("for subscribers", _article(_TEASER, "<p>This story is for subscribers. Become one from 4 euros a month.</p>")),
    ("no free articles left", _article(_TEASER, "<p>You have reached your limit of free articles this month.</p>")),
    ("German", _article(_TEASER_DE, "<p>Dieser Artikel ist für Abonnenten. Sie haben bereits ein Abo? <a href='/login'>Anmelden</a></p>", lang="de")),
    ("French", _article(_TEASER_FR, "<p>Cet article est réservé aux abonnés. La suite vous attend pour 1 euro.</p>", lang="fr")),
)  # fmt: skip
NOT_THERE: Final = (
    ("English", _framed("Page not found", "<h1>404</h1><p>Sorry, the page you are looking for does not exist. It may have been moved.</p><form><input type='search'></form>")),
    ("bare", _page("404 Not Found", "<h1>Not Found</h1><p>The requested URL was not found on this server.</p>")),
    ("in a heading alone", _page("Hollow Oak", f"{_NAV}<main><h1>Oops! That page can't be found.</h1><p>Maybe try a search?</p></main>{_FOOTER}")),
    ("with what is popular", _framed("404", "<h1>We couldn't find that page</h1><p>Here is what others read:</p><ul>" + "".join(f"<li><a href='/n/{i}'>A story about the number {i} and its many friends in town</a></li>" for i in range(12)) + "</ul>")),
    ("an offer that is gone", _framed("Oak table", "<h1>Oak table, 160 cm</h1><p>This listing is no longer available.</p>")),
    ("German", _framed("Seite nicht gefunden", "<h1>Hoppla!</h1><p>Die gesuchte Seite gibt es nicht mehr.</p>", lang="de")),
    ("French", _framed("Page introuvable", "<h1>Erreur 404</h1><p>La page demandée n'existe pas ou plus.</p>", lang="fr")),
    ("Italian", _framed("Pagina non trovata", "<h1>Pagina non trovata</h1><p>Forse il collegamento è vecchio.</p>", lang="it")),
    ("Spanish", _framed("Página no encontrada", "<h1>¡Vaya!</h1><p>No hemos podido encontrar esta página.</p>", lang="es")),
    ("Russian", _framed("Страница не найдена", "<h1>404</h1><p>Возможно, она была удалена.</p>", lang="ru")),
    ("Swedish", _framed("Sidan hittades inte", "<h1>Sidan hittades inte</h1><p>Gå till startsidan.</p>", lang="sv")),
    ("Korean", _framed("페이지를 찾을 수 없습니다", "<h1>404</h1><p>주소를 다시 확인해 주세요.</p>", lang="ko")),
    ("Japanese", _framed("ページが見つかりません", "<p>お探しのページは削除された可能性があります。</p>", lang="ja")),
)  # fmt: skip
SEARCHES: Final = (
    ("English", _framed("Search results for qwxz", "<h1>Search results for “qwxz”</h1><p>No results were found. Check the spelling.</p>")),
    ("a shop", _framed("Search", "<h1>0 results</h1><p>No products were found matching your selection.</p>")),
    ("a blog", _framed("Nothing found", "<h1>Nothing found</h1><p>Try it again with other words.</p>")),
    ("German", _framed("Suche", "<h1>Suche nach qwxz</h1><p>Es wurden keine Ergebnisse gefunden.</p>", lang="de")),
    ("Spanish", _framed("Buscar", "<h1>Buscar: qwxz</h1><p>No se han encontrado resultados.</p>", lang="es")),
    ("Japanese", _framed("検索", "<h1>検索結果</h1><p>検索結果が見つかりませんでした。</p>", lang="ja")),
)  # fmt: skip
ERRORS: Final = (
    ("500", _page("500 Internal Server Error", "<h1>Internal Server Error</h1><p>The server met a condition that it did not expect.</p>")),
    ("503", _page("503 Service Unavailable", "<h1>Service Unavailable</h1><p>Please come back later.</p>")),
    ("database", _page("Database Error", "<h1>Error establishing a database connection</h1>")),
    ("maintenance", _page("Hollow Oak is under maintenance", "<h1>We'll be back soon</h1><p>We are doing some work on the site and are down for maintenance until noon.</p>")),
    ("with a frame", _framed("Something went wrong", "<h1>Something went wrong</h1><p>Our team knows. Please try again later.</p>")),
    ("German", _page("Wartungsarbeiten", "<h1>Wartungsarbeiten</h1><p>Wegen Wartungsarbeiten sind wir gerade nicht erreichbar.</p>", lang="de")),
    ("French", _page("Site en maintenance", "<h1>Site en maintenance</h1><p>Revenez dans quelques minutes.</p>", lang="fr")),
)  # fmt: skip
EMPTY: Final = (
    ("nothing", _page("Hollow Oak", "")),
    ("a frame around nothing", _framed("Minutes", "")),
    ("an application", _page("Hollow Oak", "<div id='root'></div><script src='/app.js'></script>")),
)  # fmt: skip
WALL_PAGES: Final = tuple(
    WallPage(kind, f"{kind}: {name}", html)
    for kind, pages in {
        "bot_wall": BOTS, "consent_wall": CONSENTS, "login_wall": LOGINS, "paywall": PAYWALLS,
        "soft_404": NOT_THERE, "empty_search": SEARCHES, "error_page": ERRORS, "empty_page": EMPTY,
    }.items()
    for name, html in pages
)  # fmt: skip

_BOX: Final = (
    "<aside class='login'><form><h3>Log in</h3><input name='u'><input type='password'></form></aside>"
    "<div class='banner'>We and our partners use cookies. <button>Accept all</button></div>"
)
SOUND_PAGES: Final = tuple(
    WallPage(None, name, html)
    for name, html in (
        ("an article on missing pages", _framed("Page not found: why links break", "<article><h1>Page not found: why links break</h1>" + "".join(f"<p>{text}</p>" for text in (
            "Of the links that were set ten years ago, a third leads nowhere today. Who clicks one reads that the page was not found, and gives up.",
            "We asked three archivists what can be done about it. They agree on one thing: an address is a promise, and most who give it do not know.",
            "The page you are looking for is rarely gone. It has moved, and nobody left a note. A redirect costs a minute, says one of them.",
            "Libraries have begun to keep copies of what their readers cite. It is slow work, and it is paid by the page.") * 3) + "</article>")),
        ("a recipe", _framed("Forbidden Rice", "<h1>Forbidden Rice</h1><p>Wash 200 g of black rice and soak it overnight. Cook it with half a litre of water for forty minutes, until the grains burst. Add salt, lime and a spoon of sesame oil, and serve it with spring onions.</p>")),
        ("a reference of a status", _framed("404 Not Found", "<article><h1>404 Not Found</h1><p>The server cannot find what was asked for. Links that lead to such an answer are called broken or dead. It says nothing about whether the thing is gone for a while or for good: a server that knows it to be gone for good answers with another status.</p><h2>Status</h2><pre>404 Not Found</pre><h2>Example</h2><pre>HTTP/1.1 404 Not Found</pre><h2>See also</h2><p>410 Gone</p></article>")),
        ("a question to be answered by members", _framed("Which oil for oak?", f"<h1>Which oil for oak?</h1><p>I have an oak table that stands outside all year. Linseed or tung oil?</p><p>You must log in to reply to this topic.</p>{_BOX}")),
        ("documentation of a function", _framed("login()", "<h1>login()</h1><p>Opens a session for the user with this name and password. Returns False where the password is wrong, and raises an error where the server cannot be reached.</p>")),
        ("a free article that sells", _framed("The ferry that came back", f"<article><h1>The ferry that came back</h1><p>{_TEASER}</p><p>{_TEASER}</p><p>Subscribe to our newsletter, it is free.</p></article>")),
        ("a note on consent", _framed("Consent", "<h1>Consent</h1><p>A choir piece for four voices, written in 2011 for the festival in Lunde. It takes nine minutes. The score can be ordered from the publisher, and a recording is in the archive of the station.</p>")),
        ("an announcement of works", _framed("Bridge closed", "<h1>Bridge closed for maintenance</h1><p>From Monday to Thursday the bridge over the Lune is closed. Buses go by way of the old mill, and trains are not affected. Pedestrians can use the ferry, which goes every half hour.</p>")),
        ("a picture", _page("Harbour at noon", "<img src='/harbour.jpg' width='900' height='600' alt=''>")),
        ("a German shop", _framed("Zirbenkissen", f"<h1>Zirbenkissen</h1><p>Gefüllt mit Spänen aus Tirol, 30 mal 40 cm. Wird in drei Tagen geliefert. Zurzeit keine Bewertungen.</p>{_BOX}", lang="de")),
    )
)  # fmt: skip
"""Short pages that say something, with words that walls have too."""
