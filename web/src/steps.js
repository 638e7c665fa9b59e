// Columns over time as steps: each holds from its begin to its end, and nothing joins it to a pause.

// Where columns of this length begin and end, two points for each.
export function stepEdges(length, step, end) {
    const edges = [];
    for (let part = 0; part < length; part++) edges.push(Math.min(part * step, end), Math.min((part + 1) * step, end));
    return edges;
}

// A value for both points of each column.
export const stepValues = values => values.flatMap(value => [value, value]);

// The column in which a time lies.
export const partAt = (seconds, step, length) => (
    Math.max(0, Math.min(length - 1, Math.floor(seconds / step + 1e-9))));
