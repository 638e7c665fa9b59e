// Columns over time as steps: each holds from its start to its end, with gaps for pauses.

// Start and end of columns of this length, two points for each.
export function stepEdges(length, step, end) {
    const edges = [];
    for (let part = 0; part < length; part++) edges.push(Math.min(part * step, end), Math.min((part + 1) * step, end));
    return edges;
}

// Each column's value for both of its points.
export const stepValues = values => values.flatMap(value => [value, value]);

// The column at a time.
export const partAt = (seconds, step, length) => (
    Math.max(0, Math.min(length - 1, Math.floor(seconds / step + 1e-9))));
