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

const query = (given) =>
  new URLSearchParams(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));

export const get = (name, given = {}, signal = null) => ask(`/api/${name}?${query(given)}`, { signal });

export const post = (name, body) =>
  ask(`/api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

export const remove = (name, given) => ask(`/api/${name}?${query(given)}`, { method: "DELETE" });
