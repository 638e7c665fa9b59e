// Values by time for a chart: each holds for a stretch.

/** Rows of values, drawn as steps, with gaps for pauses. */
export class Rows {
  /** With `width` values a row; rows that begin less than `slack` seconds after the previous one join it. */
  constructor(width, slack) {
    this.width = width;
    this.slack = slack;
    this.rows = new Map();
    this.sorted = true;
    this.last = -Infinity;
  }

  /** Increases the number of values a row; earlier rows lack the new ones. */
  widen(width) {
    this.width = width;
  }

  /** Sets a value from a time on; `choose` decides between it and an existing one. */
  put(time, at, value, length, choose = (_, now) => now) {
    let row = this.rows.get(time);
    if (!row) {
      row = { values: [], length: 0 };
      this.rows.set(time, row);
      this.sorted &&= time > this.last;
      this.last = Math.max(this.last, time);
    }
    const known = row.values[at] ?? null;
    row.values[at] = known === null || value === null ? value ?? known : choose(known, value);
    row.length = Math.max(row.length, length);
  }

  /** Times, and the values of each line. */
  columns() {
    if (!this.sorted) {
      this.rows = new Map([...this.rows].sort(([one], [two]) => one - two));
      this.sorted = true;
    }
    const columns = Array.from({ length: this.width + 1 }, () => []);
    let end = null;
    for (const [time, { values, length }] of this.rows) {
      const touches = end !== null && Math.abs(time - end) <= this.slack;
      if (end !== null && !touches && time > end) this.push(columns, end, []);
      const from = touches || end === null ? end ?? time : Math.max(time, end);
      this.push(columns, from, values);
      end = Math.max(from, time + length);
      this.push(columns, end, values);
    }
    return columns;
  }

  /** The index in the columns of the row at a time. */
  static at(times, time) {
    let low = 0, high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  push(columns, time, values) {
    columns[0].push(time);
    for (let at = 0; at < this.width; at++) columns[at + 1].push(values[at] ?? null);
  }
}
