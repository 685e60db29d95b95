// Small helpers to make and to reuse elements. Data only ever becomes text, attributes or style properties.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. `props`: class, text, dataset, on (listeners); anything else is an attribute (null leaves it out).
 * @param {string} tag
 * @param {object} [props]
 * @param {...(Node|string|null)} children
 */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** An SVG element; arguments as for h(). */
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

/** Set text only when it differs, so that nothing is laid out, or read aloud, for no reason. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set or (null) remove an attribute only when it differs. */
export function setAttr(node, name, value) {
  if (value === null || value === undefined) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
}

/** Elements of one kind under one parent, reused from one drawing to the next. */
export class Pool {
  #made = [];
  #used = 0;

  /** @param {Element} parent  @param {() => Element} make */
  constructor(parent, make) {
    this.parent = parent;
    this.make = make;
  }

  begin() {
    this.#used = 0;
  }

  /** The next element, an old one if there is one. */
  next() {
    if (this.#used === this.#made.length) {
      const node = this.make();
      this.#made.push(node);
      this.parent.append(node);
    }
    return this.#made[this.#used++];
  }

  /** Remove what was not asked for since begin(). */
  end() {
    while (this.#made.length > this.#used) this.#made.pop().remove();
  }

  get used() {
    return this.#made.slice(0, this.#used);
  }
}

/** As much of `text` as fits into `room` characters, whole letters only, with an ellipsis. */
export function clip(text, room) {
  if (text.length <= room) return text;
  if (room < 1) return "";
  const letters = Array.from(text);
  if (letters.length <= room) return text;
  return room < 2 ? letters[0] : `${letters.slice(0, room - 1).join("")}…`;
}

/** How a request is called where only `room` characters fit: its id, its short name, the beginning of it, or nothing. */
export function fit({id, short}, room) {
  if (id.length <= room) return id;
  if (short.length <= room) return short;
  return room >= 4 ? clip(id, room) : "";
}

/** A value of a record by a key that comes from data: "constructor" is a name like any other. */
export function own(record, key) {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** "static" → "Static". */
export function capital(text) {
  const [first = "", ...rest] = Array.from(text);
  return first.toLocaleUpperCase("en") + rest.join("");
}

/** "1 page", "2 pages". */
export function count(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

/** "a", "a and b", "a, b and c" as a flat list of items and strings between them. */
export function listed(items) {
  const out = [];
  items.forEach((item, index) => {
    if (index) out.push(index === items.length - 1 ? " and " : ", ");
    out.push(item);
  });
  return out;
}
