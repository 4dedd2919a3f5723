// The page as it stands now: its HTML, every element numbered, and the box of each.
//
// Runs in a world of its own, where the page's scripts cannot change what `append` means; a form
// can still name a field `childNodes`, and a document an image `createRange`, so that everything
// is asked of the prototypes. The copy is made in a document without a window: copying loads
// nothing and runs nothing. Shadow trees are written as a reader sees them: in place of what their
// host holds, with slots filled. No recursion: scripts can nest deeper than any stack.
(mark, maxNodes, maxLength) => {
  const getter = (type, name) => {
    const get = Object.getOwnPropertyDescriptor(type.prototype, name).get;
    return (node) => get.call(node);
  };
  const method = (type, name) => {
    const call = type.prototype[name];
    return (node, ...values) => call.apply(node, values);
  };
  const nodeType = getter(Node, "nodeType"), childNodes = getter(Node, "childNodes");
  const localName = getter(Element, "localName"), shadowRoot = getter(Element, "shadowRoot");
  const boxOf = method(Element, "getBoundingClientRect");
  const setAttribute = method(Element, "setAttribute"), append = method(Element, "append");
  const rootOf = method(Node, "getRootNode");

  const implementation = getter(Document, "implementation")(document);
  const inert = implementation.createHTMLDocument("");
  const range = method(Document, "createRange")(document);
  const left = window.scrollX, top = window.scrollY;
  const boxes = [], texts = [];
  let nodes = 0;

  const shownChildren = (element) => {
    const name = localName(element);
    if (name === "noscript" || name === "template") return [];
    return childNodes(shadowRoot(element) || element);
  };
  const isSlot = (element) =>
    element instanceof HTMLSlotElement && rootOf(element) instanceof ShadowRoot;
  const inSlot = (slot) => {
    const assigned = slot.assignedNodes();
    return assigned.length ? assigned : childNodes(slot);
  };
  const put = (list, box) => {
    if (!box) list.push(0, 0, 0, 0);
    else list.push(
      Math.round(box.left + left), Math.round(box.top + top),
      Math.round(box.width), Math.round(box.height));
  };
  const open = (element) => {
    const copy = inert.importNode(element, false);
    const number = boxes.length / 4;
    setAttribute(copy, mark, number);
    put(boxes, boxOf(element));
    return { copy, number, hasRun: false, box: null, places: [{ list: shownChildren(element), next: 0 }] };
  };
  const around = (a, b) => {
    const x = Math.min(a.left, b.left), y = Math.min(a.top, b.top);
    return new DOMRect(x, y, Math.max(a.right, b.right) - x, Math.max(a.bottom, b.bottom) - y);
  };
  // Neighbours become one text when the HTML is read again: its box is the one around all.
  const addText = (frame, node) => {
    if (/\S/.test(node.data)) {
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      frame.box = frame.box ? around(frame.box, box) : box;
    }
    frame.hasRun = true;
    append(frame.copy, node.data);
  };
  const endRun = (frame) => {
    if (frame.hasRun) {
      texts.push(frame.number);
      put(texts, frame.box);
    }
    frame.hasRun = false;
    frame.box = null;
  };

  const root = open(getter(Document, "documentElement")(document));
  const stack = [root];
  while (stack.length) {
    const frame = stack[stack.length - 1];
    const place = frame.places[frame.places.length - 1];
    if (place.next >= place.list.length) {
      frame.places.pop();
      if (!frame.places.length) {
        endRun(frame);
        stack.pop();
      }
      continue;
    }
    const node = place.list[place.next++];
    if (++nodes > maxNodes) return JSON.stringify({ refused: "nodes" });
    const type = nodeType(node);
    if (type === Node.TEXT_NODE || type === Node.CDATA_SECTION_NODE) {
      if (node.data) addText(frame, node);
    } else if (type === Node.ELEMENT_NODE) {
      if (isSlot(node)) {
        frame.places.push({ list: inSlot(node), next: 0 });
        continue;
      }
      endRun(frame);
      const below = open(node);
      append(frame.copy, below.copy);
      stack.push(below);
    }
  }

  const doctype = getter(Document, "doctype")(document);
  const html = (doctype ? new XMLSerializer().serializeToString(doctype) : "") + root.copy.outerHTML;
  // The marks come on top of what the limit counts.
  const marked = (boxes.length / 4) * (mark.length + 11);
  if (html.length > maxLength + marked) return JSON.stringify({ refused: "length" });
  return JSON.stringify({ html, boxes, texts, origin: location.origin });
}
