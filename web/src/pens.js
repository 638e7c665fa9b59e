// Colours and patterns: those of the still pictures, from the page's CSS variables.

const COLOURS = 6;
const DASHES = [[], [6, 2], [2, 1.5], [9, 2, 2, 2]];

export const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function pen(index) {
    const variable = `--ll-${(index % COLOURS) + 1}`;
    return { variable, dash: DASHES[index % DASHES.length], stroke: () => colour(variable) };
}

// A canvas must be redrawn when the reader's colour scheme changes.
export function whenSchemeChanges(redraw) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}
