// How the outcomes of checks are called, and other words that several parts of the code section share.

/** Outcomes as lab/grading names them, and two of the page's own: not there yet, and not asked for any more. */
export const OUTCOMES = {
  passed: {word: "passed", sign: "✓"},
  failed: {word: "failed", sign: "✗"},
  did_not_run: {word: "did not run", sign: "–"},
  stopped: {word: "stopped", sign: "■"},
  crashed: {word: "crashed", sign: "!"},
  grader_error: {word: "grader error", sign: "?"},
  waiting: {word: "waiting", sign: "·"},
  running: {word: "running", sign: "▸"},
  left: {word: "not run", sign: "–"},
};

/** An outcome by its name; one that this page does not know is a fault of the grader's. */
export function outcomeOf(name) {
  return Object.hasOwn(OUTCOMES, name) ? name : "grader_error";
}

/** "14:32", or with its date when that is not today. */
export function timeWords(date) {
  if (!date) return "some time ago";
  const time = date.toLocaleTimeString("en-GB", {hour: "2-digit", minute: "2-digit"});
  return date.toDateString() === new Date().toDateString() ? time
    : `${date.toLocaleDateString("en-GB", {day: "numeric", month: "short", year: "numeric"})}, ${time}`;
}

/** "1.2 MB", "64 KB", "17 bytes". */
export function sizeWords(bytes) {
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`;
  if (bytes >= 1e4) return `${Math.round(bytes / 1e3)} KB`;
  return bytes === 1 ? "1 byte" : `${bytes} bytes`;
}
