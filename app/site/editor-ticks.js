// Round numbers on an axis.

/** 0 and multiples of 1, 2 or 5 times a power of ten, about `count` of them, up to `end`. */
export function ticks(end, count) {
  const rough = end / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((one) => one >= rough);
  const found = [];
  for (let n = 0; n * step <= end * 0.985; n++) found.push(Number((n * step).toPrecision(12)));
  return found;
}
