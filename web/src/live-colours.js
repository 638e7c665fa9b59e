// Which colour a CPU has: that of the thread on it, so that one thing keeps its colour in all charts.

/** Of these threads, each of which has the colour of its place. */
export function colourNumbers(threads) {
  const places = new Map();
  threads.forEach(({ cpu }, place) => {
    if (cpu !== null && !places.has(cpu)) places.set(cpu, place);
  });
  const others = [];
  /** Of a name such as `cpu3`; none of what is no CPU. */
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
