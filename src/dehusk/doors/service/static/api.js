// What is asked of the service behind this page.

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Error("The viewer does not answer.");
  }
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error?.message ?? answer.statusText);
  return body;
}

// Who judges in this tab: what each corrects and calls right is kept apart.
export const judge = () => sessionStorage.getItem("judge") ?? "";

export const setJudge = (name) => sessionStorage.setItem("judge", name.trim());

const query = (given) =>
  new URLSearchParams(
    Object.entries({ ...given, judge: judge() }).filter(([, value]) => value !== null && value !== undefined),
  );

export const get = (name, given = {}, signal = null) => ask(`/api/${name}?${query(given)}`, { signal });

export const post = (name, body) =>
  ask(`/api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...body, judge: judge() }),
  });

export const remove = (name, given) => ask(`/api/${name}?${query(given)}`, { method: "DELETE" });
