// Values by time, as a chart takes them.

/** Rows of values; what is far apart is not joined by a line. */
export class Rows {
  /** So many values a row; rows that are further apart than `gap` seconds have a pause between. */
  constructor(width, gap) {
    this.width = width;
    this.gap = gap;
    this.rows = new Map();
    this.sorted = true;
    this.last = -Infinity;
  }

  /** More values a row; those that were not known have none. */
  widen(width) {
    this.width = width;
  }

  /** One value at a time; `choose` decides between it and one that is there already. */
  put(time, at, value, choose = (_, now) => now, length = 0) {
    let row = this.rows.get(time);
    if (!row) {
      row = { values: [], length };
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
    let before = null;
    for (const [time, { values, length }] of this.rows) {
      const gap = Math.max(this.gap, 2.5 * Math.max(length, before?.length ?? 0));
      if (before && time - before.time > gap) this.push(columns, (before.time + time) / 2, []);
      this.push(columns, time, values);
      before = { time, length };
    }
    return columns;
  }

  push(columns, time, values) {
    columns[0].push(time);
    for (let at = 0; at < this.width; at++) columns[at + 1].push(values[at] ?? null);
  }
}
