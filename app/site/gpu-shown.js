// One measurement as tables and sentences. Whether it is to be believed was judged in Python; here it is said.

import {capital, count, h} from "./replay-dom.js";
import {gigabytes, ms, when} from "./gpu-words.js";

/** @returns {Node[]} what is shown of a measurement. `place`: the element that says how it stands to the replay on the screen */
export function measured(measurement, place) {
  const {device, trace} = measurement;
  return [
    h("p", {class: "gpu-what"}, h("b", {text: device.name || "A device without a name"}),
      ` · ${trace.name}, ${count(trace.requests, "request")} · ${when(measurement.measured_at)}`),
    ...invalid(measurement),
    place,
    policies(measurement),
    h("h3", {text: "What these numbers show, and what they do not"}),
    h("p", {class: "gpu-notes", text: measurement.notes.join(" ") || "The measurement says nothing about that."}),
    details("Device, versions and method", facts(measurement)),
    ...(measurement.batch ? [details("What a step costs, by batch size", batch(measurement.batch))] : []),
    ...(measurement.kernel ? [details("The price of paging: the kernel alone", kernel(measurement.kernel))] : []),
  ];
}

function invalid({valid, invalid_because: why}) {
  if (valid) return [];
  return [h("div", {class: "gpu-invalid", role: "note"}, h("b", {text: "Not valid: do not believe these times."}),
    h("ul", {}, ...why.map((text) => h("li", {text}))))];
}

const details = (title, ...content) => h("details", {}, h("summary", {text: title}), ...content);

/** @param {string[]} head  @param {string[][]} rows the first cell of each is its heading */
export function table(caption, head, rows) {
  return h("div", {class: "gpu-scroll", tabindex: "0", role: "region", "aria-label": caption}, h("table", {},
    h("caption", {class: "sr-only", text: caption}),
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", {scope: "col", text})))),
    h("tbody", {}, ...rows.map(([first, ...cells]) => h("tr", {}, h("th", {scope: "row", text: first}), ...cells.map((text) => h("td", {text})))))));
}

function policies({policies: parts, shape}) {
  const rows = Object.entries(parts).map(([name, part]) => {
    const steps = part.iterations.length;
    return [capital(name), String(steps), steps ? ms(part.total_ms.median / steps) : "–", steps ? ms(part.floor_ms / steps) : "–", part.ratio.toFixed(2),
      ms(part.total_ms.median), `${ms(part.total_ms.p10)}–${ms(part.total_ms.p90)}`, part.extrapolated ? ms(part.extrapolated.total_ms) : "–"];
  });
  if (!rows.length) return h("p", {text: "It has no times."});
  const all = shape.model_layers ? `× ${shape.model_layers} layers, reckoned` : "whole model";
  return table("Times by policy", ["Policy", "Iterations", "ms each", "Floor each", "Ratio to floor", "Total ms", "p10–p90", all], rows);
}

function facts(measurement) {
  const {device, versions, shape, method, bandwidth, verification} = measurement;
  const steps = Object.values(measurement.policies).flatMap((part) => part.iterations);
  const graphs = steps.filter(({mode}) => mode === "graph").length;
  const software = ["torch", "cuda", "triton"].filter((name) => versions[name]).map((name) => `${{torch: "PyTorch", cuda: "CUDA", triton: "Triton"}[name]} ${versions[name]}`);
  const checked = Object.entries(verification).map(([name, found]) => (
    `${name} ${found.passed ? "agrees with" : "differs from"} float64 attention in ${count(found.checked, "comparison")} (largest error ${found.worst_error === null ? "not finite" : found.worst_error.toPrecision(2)}, allowed ${found.tolerance})`));
  const rows = [
    ["Device", [device.name, device.memory_bytes ? `${gigabytes(device.memory_bytes, 0)}` : "", device.compute_capability && `compute capability ${device.compute_capability}`, device.driver && `driver ${device.driver}`].filter(Boolean).join(", ")],
    ["Versions", [...software, `Python ${versions.python}`, `lab ${versions.lab}`].join(", ")],
    ["What ran", `${count(shape.layers, "layer")} of ${shape.name}, ${measurement.dtype}, ${gigabytes(shape.weight_bytes)} of random weights`],
    ["How", `${method.ops === "triton" ? "Triton kernels" : "PyTorch only"}; ${count(graphs, "step")} as CUDA graphs, ${steps.length - graphs} eager`],
    ["Clock", `${method.clock}; ${count(method.repeats, "replay")} after ${method.warmup} to warm up; median, p10 and p90`],
    ["Floor", `bytes that must move over ${Math.round(bandwidth.bytes_per_s / 1e9).toLocaleString("en")} GB/s, measured in the same run`],
    ["Verified", checked.join("; ") || "not at all"],
    ["Limits", limitsWords(measurement)],
  ];
  return h("dl", {class: "facts"}, ...rows.flatMap(([term, text]) => [h("dt", {text: term}), h("dd", {text})]));
}

/** The limits and options of a measurement, in the words of the command line. */
export function limitsWords({limits, options}) {
  return Object.entries({...limits, ...options}).filter(([, value]) => value !== null && value !== false).map(([name, value]) => (value === true ? name : `${name} ${value}`)).join(", ");
}

function batch({context, rows, fit}) {
  const model = fit.token_ms === null ? `every step was on the floor of ${ms(fit.floor_ms)} ms; a token costs less than ${ms(fit.token_ms_at_most)} ms`
    : `max(${ms(fit.floor_ms)} ms, tokens × ${ms(fit.token_ms)} ms), off by up to ${Math.round(fit.worst_error * 100)} %${fit.knee_tokens === null ? "" : `; up to ${Math.round(fit.knee_tokens)} requests a step costs what one costs`}`;
  const most = Math.max(...rows.map((row) => row.ms.median), 1e-9);
  const table_ = table("A step by batch size", ["Requests", "Step ms", "Floor", "Ratio to floor", "ms a request"],
    rows.map((row) => [String(row.requests), ms(row.ms.median), ms(row.floor_ms), row.ratio.toFixed(2), ms(row.ms.median / row.requests)]));
  for (const [index, row] of [...table_.querySelectorAll("tbody tr")].entries()) row.children[1].style.setProperty("--share", String(rows[index].ms.median / most));
  table_.classList.add("gpu-bars");
  return h("div", {}, h("p", {text: `One decode step, each request with ${context} tokens in its cache. Fitted: ${model}.`}), table_);
}

function kernel(rows) {
  return table("The paged kernel against contiguous attention", ["Requests × tokens", "Paged ms", "PyTorch's ms", "Paged to PyTorch's", "Ratio to floor", "PyTorch's kernel"],
    rows.map((row) => [`${row.requests} × ${row.context.toLocaleString("en")}${row.verified ? "" : " (not verified)"}`, ms(row.paged_ms.median), ms(row.contiguous_ms.median), `× ${row.paging_costs.toFixed(2)}`,
      row.in_cache ? "in cache" : (row.paged_ms.median / row.floor_ms).toFixed(2), row.contiguous_by ?? ""]));
}
