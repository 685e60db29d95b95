// Files that carry a trace or a whole lab: reading what somebody chose, and handing out what is to be kept.
//
// A lab file is {schema_version, lab: what stands after "#" in a link}, of any length; a trace file is what
// `serving-lab` reads. Which of the two it is, the file says; what is wrong with a trace is for Python to say.

import {decode, LONGEST_IN_FILE, MOST_TEXT} from "./state.js";

const SCHEMA_VERSION = 1;
const MEASUREMENT = "serving-lab-measurement"; // the kind that such a file says
const BIGGEST = MOST_TEXT; // bytes; a hundred requests have some ten thousand

/** @param {string} hash what a link has after "#" */
export function labFile(hash) {
  return `${JSON.stringify({schema_version: SCHEMA_VERSION, lab: hash}, null, 1)}\n`;
}

/**
 * @param {File} file
 * @returns {Promise<object>} a state for openState: of a lab file what its link says, of a trace file {text}; of a
 *   measurement, which is no state, {measurement: true}
 * @throws {Error} with one sentence that says what is wrong
 */
export async function stateIn(file) {
  if (file.size > BIGGEST) throw new Error(`${file.name} has ${(file.size / 1e6).toFixed(0)} MB; a trace for this page has far less than ${BIGGEST / 1e6} MB.`);
  let text;
  try {
    text = new TextDecoder("utf-8", {fatal: true}).decode(await file.arrayBuffer());
  } catch (error) {
    throw new Error(`${file.name} ${error instanceof TypeError ? "is not text in UTF-8" : "could not be read"}.`);
  }
  const value = objectIn(text);
  if (value?.kind === MEASUREMENT) return {measurement: true};
  const lab = value !== null && Object.hasOwn(value, "lab") ? value : undefined;
  if (lab === undefined) return {limits: {}, iteration: null, packed: null, text};
  if (lab.schema_version !== SCHEMA_VERSION) throw new Error(`${file.name} has a schema_version that is not ${SCHEMA_VERSION}, the one that this lab reads.`);
  if (typeof lab.lab !== "string") throw new Error(`${file.name} is a lab file without a state.`);
  try {
    return decode(lab.lab, LONGEST_IN_FILE);
  } catch (error) {
    throw new Error(ofFile(error.message));
  }
}

/** The object that a file has; null when the text is something else. */
function objectIn(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

/** What is said of a link, said of a file. */
export function ofFile(sentence) {
  return sentence.replaceAll("This link", "This file").replaceAll("this link", "this file");
}

/** Have the browser keep `text` as a file. */
export function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], {type: "application/json"}));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.hidden = true;
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Ask for a file. @param {(file: File) => void} chosen */
export function choose(chosen) {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".json,application/json";
  input.hidden = true;
  input.addEventListener("change", () => {
    input.remove();
    if (input.files[0]) chosen(input.files[0]);
  });
  input.addEventListener("cancel", () => input.remove());
  document.body.append(input);
  input.click();
}

/** A file name from a trace's name: letters, digits and what joins them. */
export function fileName(name, ending) {
  const plain = name.normalize("NFKD").replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 60);
  return `${plain || "trace"}${ending}`;
}
