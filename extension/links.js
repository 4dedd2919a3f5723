// Runs in the page: tells links that may do something when they are followed from those that only show a page.
// It goes by names, so it knows many and not all: without the session, what it misses is asked for by nobody who is signed in.

(() => {
  if (globalThis.dehusk.whyNot) return;
  const MAX_WORDS = 5; // Of a part of an address, or of a link's text: a headline that has such a word in it does nothing.
  // Whole words, what words begin with, and what stands anywhere in one: log-me-out, Abmeldung, userlogout.
  const WHOLE = `accept add approve ban block bookmark buy cancel checkout confirm decline del disable downvote enable erase esci exit flag
    follow join leave like mute pay poke quit reject reset restore revoke sair salir save send submit subscribe toggle undo upvote vote выход выйти`;
  const BEGINNING = `abmeld ausgelogg auslogg logoff loggedout signoff endsession destroy remov trash purge unfollow unfriend unlike deactivat addto
    markall markas disconnect deconnex deconnect desconect desconex deslog disconnet disconness uitlog afmeld logga wylog odhlas kijelentkez çıkış
    keluar lösch loesch entfern supprim elimina borra verwijder удал ログアウト 退出 登出 注销 削除 删除`;
  const ANYWHERE = "logout signout delete unsubscribe";
  const PAIRS = "log out, log off, log me, sign out, sign off, sign me, opt out, end session, cerrar sesion, mark all, mark as, terminar sesion, se deconnecter";
  const KEYS = "action act do op cmd command task method nonce wpnonce token csrf xsrf sesskey";
  const READS = "view show read list display browse index detail details page article category cat news search";
  const TELLING = "[download], [rel~=nofollow], [data-method], [data-turbo-method], [data-confirm], [data-turbo-confirm], [hx-post], [hx-delete], [hx-put]";

  // The words of a text, in small letters, without accents and with a space around each: `logOut`, `log_out` and `Log out!` are the same.
  function wordsOf(text) {
    const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
    return ` ${plain.split(/[^\p{L}]+/u).filter(Boolean).join(" ")} `;
  }

  const all = (text, by = /\s+/) => text.split(by).map(wordsOf);
  const SIGNS = [...all(WHOLE), ...all(PAIRS, ","), ...all(BEGINNING).map((word) => word.trimEnd()), ...ANYWHERE.split(" ")];
  const isOneOf = (words, list) => words.trim().split(" ").some((word) => wordsOf(list).includes(` ${word} `));

  function isAct(text) {
    const words = wordsOf(text);
    return words.split(" ").length - 2 <= MAX_WORDS && SIGNS.some((sign) => words.includes(sign));
  }

  // Servers read escapes: `%6cogout` is `logout`, and so it may be when it is read twice.
  function unescaped(text) {
    try {
      const read = decodeURIComponent(text);
      return read === text ? text : unescaped(read);
    } catch {
      return text;
    }
  }

  // What is asked of a server, however it is escaped.
  const askedOf = ({ pathname, search }) => unescaped(pathname + search);

  function isActing(place) {
    if (askedOf(place).split(/[/?&=.;,:+]/).some(isAct)) return true;
    return [...place.searchParams].some(([key, value]) => isOneOf(wordsOf(key), KEYS) && !isOneOf(wordsOf(value), READS));
  }

  const isTelling = (link) => link.matches(TELLING) || [link.textContent, link.title, link.getAttribute("aria-label") ?? ""].some(isAct);

  // What a document links in a way that tells of an act.
  function tellingLinks(page, url) {
    const base = page.querySelector("base[href]")?.getAttribute("href") ?? "";
    const start = URL.canParse(base, url) ? new URL(base, url).href : url;
    const links = [...page.querySelectorAll("a[href], area[href]")].filter(isTelling).map((link) => link.getAttribute("href"));
    return links.filter((href) => URL.canParse(href, start)).map((href) => askedOf(new URL(href, start)));
  }

  // Why a page is not to be loaded; null where nothing is against it. `telling` has what is linked so that it tells of an act.
  function whyNot(url, telling = new Set()) {
    const place = new URL(url);
    if (place.origin !== location.origin) return "another origin than the page's";
    return isActing(place) || telling.has(askedOf(place)) ? "not followed: it may do something" : null;
  }

  Object.assign(globalThis.dehusk, { whyNot, tellingLinks });
})();
