// Round numbers along an axis.

export function oneTwoFive(wanted) {
    const power = 10 ** Math.floor(Math.log10(wanted));
    return power * [1, 2, 5, 10].find(digit => digit * power >= wanted * 0.999999);
}

function linear(from, to, most) {
    const step = oneTwoFive((to - from) / most);
    const all = [];
    for (let at = Math.ceil(from / step - 1e-9); at * step <= to + step * 1e-9; at++) {
        all.push(Number((at * step).toPrecision(12)));
    }
    return all;
}

function logarithmic(from, to, most) {
    const decades = Math.log10(to / from);
    if (decades < 1.2) return linear(from, to, most);
    const digits = decades * 3 <= most * 1.5 ? [1, 2, 5] : [1];
    const every = digits.length > 1 ? 1 : Math.ceil(decades / most);
    const all = [];
    for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) {
        if (power % every === 0) all.push(...digits.map(digit => digit * 10 ** power));
    }
    return all.filter(tick => tick >= from * 0.999999 && tick <= to * 1.000001);
}

export function ticks(from, to, pixels, each, isLog) {
    const most = Math.max(2, Math.floor(pixels / each));
    return isLog ? logarithmic(from, to, most) : linear(from, to, most);
}

// Round times: minutes and hours, not hundreds of seconds.
export function timeTicks(from, to, pixels, each) {
    const wanted = (to - from) / Math.max(2, Math.floor(pixels / each));
    const rounds = [60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
    if (wanted <= 20) return linear(from, to, Math.max(2, Math.floor(pixels / each)));
    const step = [20, 30, ...rounds].find(round => round >= wanted) ?? 86400 * Math.ceil(wanted / 86400);
    const all = [];
    for (let at = Math.ceil(from / step); at * step <= to; at++) all.push(at * step);
    return all;
}
