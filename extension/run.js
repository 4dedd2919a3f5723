// Runs in the page: extracts its template by the pages that it links, and lives as long as the page.
// The service says which page it wants next. Either this browser loads it, from the page's own
// origin, without its session unless the user wants it, or the service does. Every question carries
// all that is known, so a background that the browser has ended is asked again.

(() => {
  if (globalThis.dehusk.extract) return;
  const api = globalThis.browser ?? globalThis.chrome;
  const MAX_PAGE = 4_000_000;
  const MAX_ALL = 24_000_000; // Of a question: browsers pass on no messages of 64 MB.
  const TIMEOUT_MS = 15_000;
  const TRIES = 3;
  const ASKED = { mode: "same-origin", headers: { Accept: "text/html,application/xhtml+xml" } };
  // With the session no redirect is followed: where it leads is not told before. Without, nothing is kept, so that
  // the browser does not show later what somebody sees who is not signed in.
  const WITHOUT_SESSION = { ...ASKED, credentials: "omit", cache: "no-store" };
  const WITH_SESSION = { ...ASKED, credentials: "same-origin", redirect: "manual" };
  let now = null;
  let held = [];
  let ended = null;

  // How far it is, for whoever shows it: nothing large is in it.
  function run() {
    if (!now) return null;
    const { answer, ...rest } = now;
    const { method, outcome, message, asked, needed, loads, template_share: share, benchmark = null } = answer ?? {};
    return { ...rest, answer: answer && { method, outcome, message, asked, needed, loads, share, benchmark } };
  }

  const here = () => location.href.split("#")[0];
  const tell = () => void api.runtime.sendMessage({ run: run() }).catch(() => {});

  // `places` are those of a judgement of the page, if there is one: then the answer is scored by it.
  function extract({ places, ...given }) {
    if (now?.state === "running") return run();
    ended = new AbortController();
    now = { ...given, url: here(), state: "running", loads: [], fault: null, isMissing: false, answer: null };
    drive(globalThis.dehusk.collectJudged(places), ended.signal).catch((fault) => {
      Object.assign(now, { state: "failed", fault: fault.message, isMissing: Boolean(fault.isMissing) });
      for (const one of now.loads) if (one.state === "loading") Object.assign(one, { state: "failed", reason: "not waited for" });
    }).finally(tell);
    tell();
    return run();
  }

  async function drive(page, signal) {
    held = globalThis.dehusk.held();
    const question = { page, size: now.size, votes: now.votes, max_loads: now.maxLoads };
    const answer = now.source === "service" ? await ask({ ...question, fetch: true }, signal) : await load(question, signal);
    for (const { url, state, reason } of answer.loaded) note(url, state, reason);
    Object.assign(now, { state: "done", answer });
    if (applyFound()) globalThis.dehusk.show("content");
  }

  // Loads what is asked for, page by page, until there is an answer.
  async function load(question, signal) {
    const pages = [];
    const failed = [];
    const telling = new Set(globalThis.dehusk.tellingLinks(document, here()));
    let room = MAX_ALL - question.page.html.length;
    for (;;) {
      const answer = await ask({ ...question, pages, failed }, signal);
      if (!answer.wanted) {
        // With a page of the list go those that it was compared with.
        const kept = await api.runtime.sendMessage({ linked: { url: question.page.url, pages } }).catch(() => null);
        now.notKept = kept?.fault ?? null;
        return answer;
      }
      if (pages.length + failed.length >= now.maxLoads) throw new Error("More pages are asked for than may be loaded");
      note(answer.wanted, "loading");
      try {
        const page = await fetchPage(answer.wanted, telling, signal);
        room -= page.html.length;
        if (room < 0) throw new Error("the pages are too large together");
        pages.push(page);
        // A document that is read so runs nothing and loads nothing.
        const parsed = new DOMParser().parseFromString(page.html, "text/html");
        for (const url of globalThis.dehusk.tellingLinks(parsed, page.location ?? page.url)) telling.add(url);
        note(answer.wanted, "loaded");
      } catch (fault) {
        if (signal.aborted) throw new Error("Stopped");
        failed.push(answer.wanted);
        note(answer.wanted, "failed", fault.message);
      }
    }
  }

  function note(url, state, reason = null) {
    const known = now.loads.find((one) => one.url === url);
    // Of what this browser has loaded the service does not know why it failed.
    if (known) Object.assign(known, { state, reason: reason ?? (state === "failed" ? known.reason : null) });
    else now.loads.push({ url, state, reason });
    tell();
  }

  // A page of this origin, asked for once. No other origin is ever asked.
  async function fetchPage(url, telling, stopped) {
    const reason = globalThis.dehusk.whyNot(url, telling);
    if (reason) throw new Error(reason);
    const patience = new AbortController();
    const leave = () => patience.abort();
    const clock = setTimeout(leave, TIMEOUT_MS);
    stopped.addEventListener("abort", leave);
    try {
      return await fetchHtml(url, { ...(now.source === "session" ? WITH_SESSION : WITHOUT_SESSION), signal: patience.signal });
    } catch (fault) {
      throw patience.signal.aborted ? new Error(`not there within ${TIMEOUT_MS / 1000} s`) : fault;
    } finally {
      clearTimeout(clock);
      stopped.removeEventListener("abort", leave);
    }
  }

  // In Firefox a page's policy binds what is fetched in it, by an extension too. That is told a little later.
  const FORBIDDEN_MS = 200;
  const forbidden = new Set();
  document.addEventListener("securitypolicyviolation", ({ blockedURI }) => {
    if (now?.loads.some(({ url }) => url === blockedURI)) forbidden.add(blockedURI);
  });

  async function fetchHtml(url, asked) {
    let answer;
    try {
      answer = await fetch(url, asked);
    } catch (fault) {
      await new Promise((resolve) => setTimeout(resolve, FORBIDDEN_MS));
      throw new Error(forbidden.has(url) ? "forbidden by the page's own policy" : `cannot be reached, or leads to another origin (${fault.message})`);
    }
    if (answer.type === "opaqueredirect") throw new Error("leads elsewhere: not followed with your session");
    const type = (answer.headers.get("Content-Type") ?? "").trim();
    if (!answer.ok || !/^(text\/html|application\/xhtml\+xml)\b/i.test(type)) {
      await answer.body?.cancel();
      throw new Error(answer.ok ? `not HTML: ${type.slice(0, 40) || "no type"}` : `status ${answer.status}`);
    }
    const html = decode(await read(answer), type);
    return { url, html, ...(answer.redirected ? { location: answer.url } : {}) };
  }

  async function read(answer) {
    const reader = answer.body.getReader();
    const pieces = [];
    let size = 0;
    for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
      size += value.length;
      if (size > MAX_PAGE) {
        await reader.cancel();
        throw new Error(`more than ${MAX_PAGE / 1e6} MB`);
      }
      pieces.push(value);
    }
    return pieces;
  }

  const BOMS = { "\xef\xbb\xbf": "utf-8", "\xff\xfe": "utf-16le", "\xfe\xff": "utf-16be" };

  // The text of a page: by its first bytes, its server, itself, else UTF-8, or what is older where that does not fit.
  function decode(pieces, type) {
    const text = (name, settings) => {
      const decoder = new TextDecoder(name, settings);
      return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
    };
    const head = pieces.slice(0, 8).map((piece) => new TextDecoder("latin1").decode(piece)).join("").slice(0, 1024);
    const bom = Object.keys(BOMS).find((sign) => head.startsWith(sign));
    const named = BOMS[bom] ?? /charset\s*=\s*["']?([\w.:-]+)/i.exec(type)?.[1] ?? /<meta[^>]*charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1];
    try {
      return text(named ?? "utf-8", { fatal: !named });
    } catch {
      return text("windows-1252");
    }
  }

  class Gone extends Error {}

  async function ask(question, signal) {
    for (let left = TRIES; ; left -= 1) {
      try {
        return await askOnce(question, signal);
      } catch (fault) {
        if (!(fault instanceof Gone) || left <= 1) throw fault;
      }
    }
  }

  // Through the background, which may ask the service: a page's script may not.
  function askOnce(question, signal) {
    return new Promise((resolve, reject) => {
      const port = api.runtime.connect({ name: "linked" });
      const leave = (settle, given) => {
        signal.removeEventListener("abort", stopped);
        port.disconnect();
        settle(given);
      };
      const stopped = () => leave(reject, new Error("Stopped"));
      if (signal.aborted) return stopped();
      signal.addEventListener("abort", stopped);
      port.onDisconnect.addListener(() => leave(reject, new Gone("The extension has gone: reload the page")));
      port.onMessage.addListener(({ line, answer, fault, isMissing }) => {
        if (line?.loading) note(line.loading, "loading");
        else if (line?.loaded) note(line.loaded, line.state, line.reason);
        if (answer) leave(resolve, answer);
        if (fault) leave(reject, Object.assign(new Error(fault), { isMissing }));
      });
      port.postMessage(question);
    });
  }

  // The answer, as long as it is this page's, and leaves something of it. Without other pages it rests on this one alone.
  function found() {
    return now?.answer?.template_share < 1 && now.url === here() ? now.answer : null;
  }

  function applyFound() {
    const answer = found();
    if (!answer) return null;
    globalThis.dehusk.clear();
    globalThis.dehusk.apply(answer, held);
    return { template_share: answer.template_share };
  }

  const stop = () => ended?.abort();

  Object.assign(globalThis.dehusk, { extract, run, stop, found, applyFound });
})();
