// The pages that link each other, as `hyperlink` sees them: a small picture.

import { svg } from "./dom.js";
import { shortName } from "./pages.js";

export function drawGraph(graph) {
  const size = 360;
  const middle = size / 2;
  const others = graph.urls.length - 1 - graph.voters;
  const places = graph.urls.map((url, number) => {
    if (number === 0) return [middle, middle];
    const isVoter = number <= graph.voters;
    const count = isVoter ? graph.voters : others;
    const turn = ((isVoter ? number - 1 : number - 1 - graph.voters) / Math.max(count, 1)) * 2 * Math.PI - Math.PI / 2;
    const radius = isVoter ? 76 : 144;
    return [middle + radius * Math.cos(turn), middle + radius * Math.sin(turn)];
  });
  const lines = graph.links.map(([from, to]) => {
    const isStrong = from <= graph.voters && to <= graph.voters;
    const [[x1, y1], [x2, y2]] = [places[from], places[to]];
    return svg("line", { x1, y1, x2, y2, class: isStrong ? "strong" : "" });
  });
  lines.sort((a, b) => a.classList.length - b.classList.length);
  const dots = graph.urls.map((url, number) => {
    const [x, y] = places[number];
    const kind = number === 0 ? "key" : number <= graph.voters ? "voter" : "other";
    const name = shortName(url);
    const label = svg("text", { x, y: y + (number === 0 ? 26 : 22) });
    label.textContent = name.length > 20 ? `…${name.slice(-19)}` : name;
    const title = svg("title");
    title.textContent = url;
    return svg("g", { class: kind }, svg("circle", { cx: x, cy: y, r: number === 0 ? 11 : 8 }), label, title);
  });
  const words = svg("title");
  words.textContent = graph.message;
  return svg("svg", { viewBox: `0 0 ${size} ${size + 10}`, class: "graph", role: "img" }, words, ...lines, ...dots);
}
