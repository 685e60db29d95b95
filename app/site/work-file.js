// All work in one file, to take elsewhere: {schema_version, solutions: [saved solution, …]}.

import {checkKeys, readSolution, SCHEMA_VERSION} from "./work-solution.js";

export const BIGGEST = 16_000_000; // bytes; a file of ours has a few thousand

export function fileOf(solutions) {
  return `${JSON.stringify({schema_version: SCHEMA_VERSION, solutions}, null, 1)}\n`;
}

/**
 * @param {File} file
 * @returns {Promise<object[]>} its saved solutions, at most one for each exercise
 * @throws {Error} with one sentence that says what is wrong
 */
export async function readFile(file) {
  if (file.size > BIGGEST) {
    throw new Error(`The file has ${(file.size / 1e6).toFixed(0)} MB; a file of saved work has at most ${BIGGEST / 1e6} MB.`);
  }
  let text;
  try {
    text = new TextDecoder("utf-8", {fatal: true}).decode(await file.arrayBuffer());
  } catch (error) {
    throw new Error(error instanceof TypeError ? "The file is not text in UTF-8." : "The file could not be read.");
  }
  return readText(text);
}

/** @param {string} text what a file holds */
export function readText(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("The file is not JSON, so it is not one that this lab has exported.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("The file holds no object with saved work.");
  // One saved solution by itself is taken as well: the format of the file is that of its entries.
  if (Object.hasOwn(value, "code")) return [readSolution(value, "The file")];
  if (value.schema_version !== SCHEMA_VERSION) throw new Error(`The file's schema_version is not ${SCHEMA_VERSION}, the one that this lab reads.`);
  checkKeys(value, ["schema_version", "solutions"], "The file");
  if (!Array.isArray(value.solutions)) throw new Error("The file: solutions is not a list.");
  const solutions = value.solutions.map((one, index) => readSolution(one, `solutions[${index}]`));
  const names = solutions.map(({exercise}) => exercise);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new Error(`The file has two solutions of ${twice}.`);
  return solutions;
}
