// One geometry for the seat timeline and for the chart below it: iteration t covers x(t) to x(t + 1).

export const LEFT = 44;
export const RIGHT = 8;
export const AXIS = 22; // the axis with the playhead, above the plot
export const WAITS = 40; // the lane of arrivals and waits
export const CHART = {height: 150, top: 4, bottom: 22, room: 1.06};

/** @param {number} width of the whole picture in px  @param {number} last iteration on the axis */
export function scaleOf(width, last) {
  const plot = Math.max(1, width - LEFT - RIGHT);
  const step = plot / last;
  return {width, last, plot, step, x: (t) => LEFT + (t - 1) * step, at: (x) => Math.floor((x - LEFT) / step) + 1};
}

/** Height of one seat's lane and the distance to the next, so that 16 seats still fit on a screen. */
export function lanesOf(seats) {
  const pitch = seats <= 4 ? 30 : seats <= 8 ? 22 : Math.max(6, Math.min(15, Math.floor(240 / seats)));
  return {pitch, lane: pitch - (pitch > 20 ? 5 : pitch > 10 ? 3 : 1)};
}

/** Round steps 1, 2, 5 × 10ⁿ such that `total` has at most `most` of them. */
export function tidyStep(total, most) {
  for (let power = 1; ; power *= 10) {
    for (const factor of [1, 2, 5]) if (total / (factor * power) <= most) return factor * power;
  }
}

/** Iterations to label: 1, round ones, the last; none so close that labels touch. */
export function ticksOf(scale) {
  const {last, step} = scale;
  if (last === 1) return [1];
  const every = Math.max(1, tidyStep(last, scale.plot / 46));
  const ticks = [1];
  for (let t = every; t < last; t += every) {
    if ((t - 1) * step >= 22 && (last - t) * step >= 32) ticks.push(t);
  }
  return [...ticks, last];
}
