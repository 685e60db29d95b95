// Figures of a measurement as text.

import {clip} from "./replay-dom.js";

/** Milliseconds with three significant digits, zeros too, so that they line up: 0.546, 0.350, 44.8, 1,204. */
export function ms(value) {
  if (value >= 999.5) return Math.round(value).toLocaleString("en");
  return value === 0 ? "0" : value.toPrecision(3);
}

/** "2026-01-31T12:00:05+00:00" → "2026-01-31 12:00:05 UTC": a minute has room for two. Anything else as it is. */
export function when(text) {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d(:\d\d)?)(\.\d+)?(\+00:00|Z)$/.exec(text);
  return found ? `${found[1]} ${found[2]} UTC` : text;
}

/** How a measurement is called in a list. */
export function labelOf(measurement) {
  const parts = [measurement.trace.name, measurement.device.name || "device without a name", measurement.dtype, when(measurement.measured_at)];
  return `${measurement.valid ? "" : "NOT VALID: "}${parts.map((part) => clip(part, 60)).join(" · ")}`;
}

export const gigabytes = (bytes, digits = 1) => `${(bytes / 1e9).toFixed(digits)} GB`;
