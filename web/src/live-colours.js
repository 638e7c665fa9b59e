// The colour of a CPU: that of the thread on it, the same in all charts.

/** For these threads, each of which has the colour of its index. */
export function colourNumbers(threads) {
  const places = new Map();
  threads.forEach(({ cpu }, place) => {
    if (cpu !== null && !places.has(cpu)) places.set(cpu, place);
  });
  const others = [];
  /** For a name such as `cpu3`; none if it is not a CPU. */
  const cpu = (name) => {
    const number = /^cpu(\d+)$/.exec(name)?.[1];
    if (number === undefined) return null;
    const known = places.get(Number(number));
    if (known !== undefined) return known;
    if (!others.includes(number)) others.push(number);
    return threads.length + others.indexOf(number);
  };
  return { cpu };
}
