// The one codec between the lab's state and a link.
//
// State: {limits: {field: value}, iteration: number|null}. A link carries only what differs from the trace's own
// limits, under the names that the command line uses: #max_num_seqs=4&chunked_prefill=1&iteration=15.
// Whether limits make sense is for `lab` to say; here only the form is judged.

const NUMBERS = ["max_num_seqs", "num_pages", "page_size", "max_num_batched_tokens"];
const LONGEST = 2000; // characters; a link of ours has fewer than 200

/** @returns {string} the part after "#", "" when everything is as the trace has it */
export function encode(state, defaults) {
  const parts = [];
  for (const name of NUMBERS) {
    const value = state.limits[name];
    if (value !== undefined && value !== defaults[name]) parts.push(`${name}=${value === null ? "unlimited" : value}`);
  }
  const chunked = state.limits.chunked_prefill;
  if (chunked !== undefined && chunked !== defaults.chunked_prefill) parts.push(`chunked_prefill=${chunked ? 1 : 0}`);
  if (state.iteration && state.iteration > 1) parts.push(`iteration=${state.iteration}`);
  return parts.join("&");
}

/** True when the part after "#" is a state of ours and not the name of a section. */
export function isState(hash) {
  return hash.replace(/^#/, "").includes("=");
}

/**
 * @param {string} hash what stands after "#", with or without it
 * @returns {{limits: object, iteration: number|null}} only the limits that the link names
 * @throws {Error} with one sentence for the reader when the link is damaged
 */
export function decode(hash) {
  const text = hash.replace(/^#/, "");
  const state = {limits: {}, iteration: null};
  if (!isState(text)) return state;
  if (text.length > LONGEST) throw new Error("This link is too long to be one of this lab's.");
  const seen = new Set();
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
    } else throw new Error(`This link has something that this lab does not know: ${shown(name)}.`);
  }
  return state;
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
