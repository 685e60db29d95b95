// The one codec between the lab's state and a link, or a file where a link would be too long.
//
// State: {limits: {field: value}, options: {option: value}, iteration: number|null, packed: {sum, data}|null}. A link carries only what differs
// from the trace's own limits, under the names that the command line uses: #max_num_seqs=4&chunked_prefill=1&iteration=15.
// A trace of one's own stands in two parts: own=VERSION.CHECKSUM first and trace=DATA last, so that a link that was cut
// anywhere is known for it. DATA is the trace file, compressed (deflate), in base64url.
// Whether limits and trace make sense is for `lab` to say; here only the form is judged.

import {sha256} from "./work-sha256.js";

const NUMBERS = ["max_num_seqs", "num_pages", "page_size", "max_num_batched_tokens"];
const LONGEST_PLAIN = 2000; // characters; a link of ours without a trace has fewer than 200
const VERSION = 1; // of the form in which a trace stands in a link
const SUM = 12; // hexadecimal digits of the trace's SHA-256
const PIECE = 4096; // bytes that are unpacked at once: at most some thousand times as many come of it

/** Characters that a link may have: what mail, chat and course sites carry along. */
export const LONGEST = 8000;
/** Characters that a state in a file may have. */
export const LONGEST_IN_FILE = 8_000_000;
/** Bytes of a trace, unpacked: a few letters can say "a million times the same". */
export const MOST_TEXT = 8_000_000;

let optionFields = new Map();

/** Which options of the engine a link may carry: [{name, kind, default, optional, values}], as the site's config has them. */
export function knowOptions(fields = []) {
  optionFields = new Map(fields.map((field) => [field.name, field]));
}

/**
 * @param {object} optionDefaults the options of the trace that are not as they are by default
 * @returns {string} the part after "#", "" when everything is as the trace has it
 */
export function encode(state, defaults, optionDefaults = {}) {
  const parts = [];
  if (state.packed) parts.push(`own=${VERSION}.${state.packed.sum}`);
  for (const name of NUMBERS) {
    const value = state.limits[name];
    if (value !== undefined && value !== defaults[name]) parts.push(`${name}=${value === null ? "unlimited" : value}`);
  }
  const chunked = state.limits.chunked_prefill;
  if (chunked !== undefined && chunked !== defaults.chunked_prefill) parts.push(`chunked_prefill=${chunked ? 1 : 0}`);
  for (const {name, kind, default: usual} of optionFields.values()) {
    const value = state.options?.[name] ?? usual;
    if (state.options && value !== (optionDefaults[name] ?? usual)) parts.push(`${name}=${value === null ? "none" : kind === "flag" ? Number(value) : value}`);
  }
  if (state.iteration && state.iteration > 1) parts.push(`iteration=${state.iteration}`);
  if (state.packed) parts.push(`trace=${state.packed.data}`);
  return parts.join("&");
}

/** True when the part after "#" is a state of ours and not the name of a section. */
export function isState(hash) {
  return hash.replace(/^#/, "").includes("=");
}

/**
 * @param {string} hash what stands after "#", with or without it  @param {number} longest characters that it may have
 * @returns {{limits: object, iteration: number|null, packed: object|null}} only the limits that the link names;
 *   `packed` is for unpack()
 * @throws {Error} with one sentence for the reader when the link is damaged
 */
export function decode(hash, longest = LONGEST) {
  const text = hash.replace(/^#/, "");
  const state = {limits: {}, options: {}, iteration: null, packed: null};
  if (!isState(text)) return state;
  const data = /(?:^|&)trace=([^&]*)/.exec(text)?.[1] ?? "";
  if (text.length > longest || text.length - data.length > LONGEST_PLAIN) throw new Error("This link is too long to be one of this lab's.");
  const seen = new Set();
  let sum = null;
  for (const part of text.split("&")) {
    if (part === "") continue;
    const [name, value = "", ...rest] = part.split("=");
    if (seen.has(name)) throw new Error(`This link names ${shown(name)} twice.`);
    seen.add(name);
    if (rest.length) throw new Error(`This link is damaged at ${shown(part)}.`);
    if (name === "max_num_batched_tokens" && value === "unlimited") state.limits[name] = null;
    else if (NUMBERS.includes(name)) state.limits[name] = integer(name, value);
    else if (name === "iteration") state.iteration = integer(name, value);
    else if (name === "chunked_prefill") {
      if (value !== "0" && value !== "1") throw new Error("In this link, chunked_prefill is neither 0 nor 1.");
      state.limits[name] = value === "1";
    } else if (optionFields.has(name)) state.options[name] = optionValue(optionFields.get(name), value);
    else if (name === "own") sum = ownSum(value);
    else if (name !== "trace") throw new Error(`This link has something that this lab does not know: ${shown(name)}.`);
  }
  if (sum !== null && !data) throw new Error("This link was cut short: its trace is missing.");
  if (seen.has("trace")) {
    if (sum === null) throw new Error("This link is damaged: it has a trace, but not what the trace is checked against.");
    state.packed = {sum, data};
  }
  return state;
}

function ownSum(value) {
  const [version, sum = "", ...rest] = value.split(".");
  const number = /^\d{1,9}$/.test(version) ? Number(version) : 0;
  if (number > VERSION) throw new Error(`This link was made by a later version of this lab: its trace has form ${number}, and this lab reads form ${VERSION}. Reload the page for a newer lab, or ask for the trace as a file.`);
  if (number !== VERSION || rest.length || !new RegExp(`^[0-9a-f]{${SUM}}$`).test(sum)) throw new Error(`This link is damaged at ${shown(`own=${value}`)}.`);
  return sum;
}

/** @param {string} text a trace file  @returns {Promise<{sum: string, data: string}>} the same as a link carries it */
export async function pack(text) {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  const data = btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return {sum: sha256(text).slice(0, SUM), data};
}

/**
 * @returns {Promise<string>} the trace file that pack() was given
 * @throws {Error} with one sentence for the reader when it is not whole
 */
export async function unpack({sum, data}) {
  let text;
  try {
    const letters = atob(data.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    text = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(await through(bytes, new DecompressionStream("deflate-raw")));
  } catch {
    text = null;
  }
  if (text === null || sha256(text).slice(0, SUM) !== sum) throw new Error("This link was cut short or altered: its trace is not the one that was shared.");
  return text;
}

async function through(bytes, stream) {
  const writer = stream.writable.getWriter();
  const feed = async () => {
    for (let at = 0; at < bytes.length; at += PIECE) await writer.write(bytes.subarray(at, at + PIECE));
    await writer.close();
  };
  feed().catch(() => { /* what goes wrong while writing is told by the reading side as well */ });
  const reader = stream.readable.getReader();
  const pieces = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length;
    if (size > MOST_TEXT) {
      reader.cancel().catch(() => {});
      throw new Error("too much");
    }
    pieces.push(next.value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function optionValue({name, kind, optional, values}, text) {
  if (optional && text === "none") return null;
  if (kind === "integer") return integer(name, text);
  if (kind === "flag" && /^[01]$/.test(text)) return text === "1";
  if (kind === "choice" && values.includes(text)) return text;
  if (kind === "number" && /^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text);
  const right = {flag: "neither 0 nor 1", choice: `none of ${values?.map((value) => value ?? "none").join(", ")}`, number: "no number"}[kind];
  throw new Error(`In this link, ${name} is ${shown(text)}, which is ${right}.`);
}

function integer(name, text) {
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(Number(text))) {
    throw new Error(`In this link, ${name} is ${shown(text)}, which is no whole number.`);
  }
  return Number(text);
}

function shown(text) {
  const short = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return `“${short}”`;
}
