// A saved solution: {schema_version, exercise, checks_sha256, code, code_sha256, saved_at}, in storage and in files.

import {sha256} from "./work-sha256.js";

export const SCHEMA_VERSION = 1;
export const LONGEST_CODE = 2_000_000; // characters

const KEYS = ["schema_version", "exercise", "checks_sha256", "code", "code_sha256", "saved_at"];
const HEX = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

export function solutionOf(exercise, checksSha256, code, at = new Date()) {
  return {
    schema_version: SCHEMA_VERSION, exercise, checks_sha256: checksSha256,
    code, code_sha256: sha256(code), saved_at: at.toISOString(),
  };
}

/**
 * @param {unknown} value  @param {string} place where it stands, for the message
 * @returns {object} the same, known to be a saved solution
 * @throws {Error} with one sentence that says what is wrong and where
 */
export function readSolution(value, place) {
  const wrong = (what) => { throw new Error(`${place}: ${what}.`); };
  if (typeof value !== "object" || value === null || Array.isArray(value)) wrong("is not an object");
  checkKeys(value, KEYS, place);
  if (value.schema_version !== SCHEMA_VERSION) wrong(`schema_version is not ${SCHEMA_VERSION}, the one that this lab reads`);
  if (typeof value.exercise !== "string" || !/^[a-z][a-z0-9_]{0,63}$/.test(value.exercise)) wrong("exercise is not the name of one");
  if (typeof value.code !== "string") wrong("code is not text");
  if (value.code.length > LONGEST_CODE) wrong(`code is longer than ${LONGEST_CODE} characters`);
  for (const name of ["checks_sha256", "code_sha256"]) {
    if (typeof value[name] !== "string" || !HEX.test(value[name])) wrong(`${name} is not a SHA-256 in hexadecimal`);
  }
  if (sha256(value.code) !== value.code_sha256) wrong("code_sha256 does not belong to this code, so one of them was changed");
  if (typeof value.saved_at !== "string" || !TIME.test(value.saved_at) || Number.isNaN(Date.parse(value.saved_at))) {
    wrong("saved_at is not a date and time");
  }
  return value;
}

/** @throws {Error} for a key too few or too many */
export function checkKeys(value, keys, place) {
  const missing = keys.find((name) => !Object.hasOwn(value, name));
  if (missing) throw new Error(`${place}: ${missing} is missing.`);
  const unknown = Object.keys(value).find((name) => !keys.includes(name));
  if (unknown !== undefined) throw new Error(`${place}: this lab does not know the key “${unknown.slice(0, 40)}”.`);
}
