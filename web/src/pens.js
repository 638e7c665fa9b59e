// Colours and patterns: those of the pictures that stand still, from the page's own variables.

const COLOURS = 6;
const DASHES = [[], [6, 2], [2, 1.5], [9, 2, 2, 2]];

export const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function pen(index) {
    const variable = `--ll-${(index % COLOURS) + 1}`;
    return { variable, dash: DASHES[index % DASHES.length], stroke: () => colour(variable) };
}

// Whoever draws on a canvas must draw anew when the reader's scheme changes.
export function whenSchemeChanges(redraw) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}
