// Numbers for people: with units and four significant digits; saved data has all digits.

const UNITS = [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]];

export function latency(nanos) {
    const rounded = Number((nanos ?? 0).toPrecision(4));
    const [size, unit] = UNITS.findLast(([size]) => Math.abs(rounded) >= size) ?? UNITS[0];
    return `${number(rounded / size)} ${unit}`;
}

export function number(value, digits = 3) {
    return String(Number(value.toFixed(digits)));
}

export const count = value => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, " ");

const two = value => String(value).padStart(2, "0");

// A time since the first release.
export function since(seconds) {
    const whole = Math.floor(seconds + 1e-9);
    if (whole < 60) return `+${number(seconds)} s`;
    const rest = two(whole % 60) + (seconds - whole > 1e-6 ? (seconds - whole).toFixed(3).slice(1) : "");
    return whole < 3600
        ? `+${Math.floor(whole / 60)}:${rest}`
        : `+${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${rest}`;
}

// The same as time of day.
export const utc = (started, seconds) =>
    `${new Date(Date.parse(started) + seconds * 1000).toISOString().slice(11, 19)} UTC`;

export function share(value) {
    return value >= 0.001 ? `${number(value * 100, 4)} %` : value.toExponential(2);
}

/** The words for what the picture's instrument records, from its figure. */
export function termsOf(place) {
    const { many = "latencies", axis = "Latency", size = "latency" } = place.closest("figure")?.dataset ?? {};
    return { many, axis, size, titles: many[0].toUpperCase() + many.slice(1) };
}
