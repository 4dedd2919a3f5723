// How the verdict on a page grew with the pages seen: a slider over a small curve.

import { get } from "./api.js";
import { byId, count, percent, svg } from "./dom.js";

let steps = [0];

export function setSteps(given, seen) {
  steps = given;
  const slider = byId("seen");
  slider.max = String(steps.length - 1);
  slider.value = String(Math.max(0, steps.indexOf(seen)));
}

export const chosenStep = () => steps[Number(byId("seen").value)];

export function moveStep(by) {
  const slider = byId("seen");
  const before = slider.value;
  slider.value = String(Number(before) + by);
  return slider.value !== before;
}

export function showStep(facts) {
  const words = count(facts.seen, "page");
  const output = byId("seen-words");
  const strong = document.createElement("b");
  strong.textContent = percent(facts.share);
  output.replaceChildren(`after ${words}: `, strong, " template");
  byId("seen").setAttribute("aria-valuetext", `${words}, ${percent(facts.share)} template`);
}

let drawing = new AbortController();

// A page of megabytes takes a while at every step: whoever goes on to another lets it be.
export async function drawCurve(page) {
  drawing.abort();
  drawing = new AbortController();
  const { signal } = drawing;
  const answer = await get("growth", { page }, signal).catch((fault) => {
    if (!signal.aborted) throw fault;
  });
  if (signal.aborted) return;
  const last = steps[steps.length - 1] || 1;
  const place = (seen) => (steps.length < 2 ? 0 : (nearest(seen) / (steps.length - 1)) * 100);
  const most = Math.max(0.05, ...answer.steps.map(([, share]) => share));
  const points = answer.steps.map(([seen, share]) => `${place(seen).toFixed(2)} ${(20 - (share / most) * 17).toFixed(2)}`);
  const spark = byId("spark");
  spark.replaceChildren();
  if (last && points.length > 1) {
    spark.append(svg("path", { class: "area", d: `M0 20 L${points.join(" L")} L100 20Z` }));
    spark.append(svg("path", { class: "line", d: `M${points.join(" L")}` }));
  }
}

function nearest(seen) {
  const found = steps.indexOf(seen);
  return found < 0 ? steps.findIndex((step) => step >= seen) : found;
}
