// A request as a small coloured tile with its letter: in the queue, the list of requests, the sentences, the tables.

import {clip, h, setAttr, setText} from "./replay-dom.js";

const LONGEST = 12;

/** @param {object} request  @param {"button"|"span"} tag a button can be focused */
export function chip(request, tag = "span") {
  const node = h(tag, {class: "chip", dataset: {pin: ""}});
  if (tag === "button") setAttr(node, "type", "button");
  return dress(node, request);
}

/** Make `node` the chip of `request`. */
export function dress(node, request) {
  const text = clip(request.id, LONGEST);
  setAttr(node, "data-r", request.index);
  setText(node, text);
  setAttr(node, "title", text === request.id ? null : request.id);
  if (node.tagName === "BUTTON") setAttr(node, "aria-label", `request ${request.id}`);
  return node;
}

/** Fill `parent` with sentences: strings and the chips of requests, then a note. `unseen` is only read aloud: it is drawn elsewhere. */
export function fillWords(parent, parts, note = "", unseen = []) {
  const nodes = parts.map((part) => (typeof part === "string" ? part : chip(part)));
  if (note) nodes.push(h("em", {text: ` ${note}.`}));
  if (unseen.length) nodes.push(h("span", {class: "sr", text: plain(unseen)}));
  parent.replaceChildren(...nodes);
}

/** Plain text of a list of strings and requests. */
export function plain(parts) {
  return parts.map((part) => (typeof part === "string" ? part : part.id)).join("");
}

/** Keep a row of focusable chips in step with a list of requests; a chip that stays keeps its focus. */
export class ChipRow {
  #chips = new Map();

  constructor(node) {
    this.node = node;
  }

  update(requests) {
    const wanted = new Set(requests.map(({id}) => id));
    for (const [id, node] of this.#chips) {
      if (wanted.has(id)) continue;
      node.remove();
      this.#chips.delete(id);
    }
    requests.forEach((request, place) => {
      const node = this.#chips.get(request.id) ?? chip(request, "button");
      this.#chips.set(request.id, dress(node, request));
      if (this.node.children[place] !== node) this.node.insertBefore(node, this.node.children[place] ?? null);
    });
  }
}
