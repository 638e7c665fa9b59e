// Times and numbers as people read them.

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** A latency in nanoseconds with its unit, in three digits. */
export function latency(ns) {
  if (ns === null || ns === undefined) return "–";
  const [size, unit] = UNITS.find(([size]) => Math.abs(ns) >= size) ?? UNITS.at(-1);
  return `${Number((ns / size).toPrecision(3))} ${unit}`;
}

/** A count in groups of three digits. */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, " ");
}

/** Seconds since the first release, as 1:02:03. */
export function since(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}`;
}
