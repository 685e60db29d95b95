// JSON with its numbers as they are written: to JavaScript 20.0 and 20 are the same, in a trace file they are not.

/** A number as it stands in the text. */
export class Written {
  constructor(text) {
    this.text = text;
  }
}

export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const TOKEN = /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = "\u0000number:"; // no text of a file can hold it unescaped

/** The value of JSON text, each number in it a Written. Throws SyntaxError. */
export function read(text) {
  JSON.parse(text); // marks must not make JSON of what was none
  const marked = text.replace(TOKEN, (token) => (token[0] === '"' ? token : JSON.stringify(MARK + token)));
  return JSON.parse(marked, (_key, value) => (typeof value === "string" && value.startsWith(MARK) ? new Written(value.slice(MARK.length)) : value));
}

/** JSON text of a value that may hold Written numbers; what is undefined is left out. */
export function write(value) {
  if (value instanceof Written) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const parts = Object.entries(value).filter(([, part]) => part !== undefined).map(([key, part]) => `${JSON.stringify(key)}: ${write(part)}`);
    return `{${parts.join(", ")}}`;
  }
  return JSON.stringify(value);
}
