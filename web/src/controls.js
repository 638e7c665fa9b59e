// Buttons, groups of them, and the legend whose entries are buttons.

export function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

export function button(text, label, act) {
    const made = element("button", { type: "button", textContent: text, onclick: act });
    if (label) made.setAttribute("aria-label", label);
    return made;
}

const press = (one, pressed) => one.setAttribute("aria-pressed", String(pressed));

// Buttons of which one is pressed; calls `chosen` with it.
export function choice(label, options, current, chosen) {
    const group = element("div", { className: "choice" }, element("span", { textContent: label }));
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", label);
    const all = options.map(([value, text]) => {
        const one = button(text, null, () => {
            all.forEach(other => press(other, other === one));
            chosen(value);
        });
        press(one, value === current);
        return one;
    });
    group.append(...all);
    return group;
}

function swatch(pen) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    svg.setAttribute("width", "24");
    svg.setAttribute("height", "8");
    svg.setAttribute("aria-hidden", "true");
    line.setAttribute("d", "M0 4h24");
    line.setAttribute("style", `stroke:var(${pen.variable});stroke-width:2;stroke-dasharray:${pen.dash.join(" ")}`);
    svg.append(line);
    return svg;
}

// The lines by name, with their values at the cursor. Pressed means shown.
export function legend(lines, changed, focused) {
    const values = lines.map(() => element("span", { className: "value" }));
    const all = lines.map(({ name, note, pen }, index) => {
        const words = element("span", { className: "name", textContent: name });
        if (note) words.append(element("small", { textContent: note }));
        const one = element("button", { type: "button" }, swatch(pen), words, values[index]);
        press(one, true);
        one.onclick = () => set(index, one.getAttribute("aria-pressed") !== "true");
        one.onmouseenter = () => focused(index);
        one.onmouseleave = () => focused(null);
        return one;
    });
    const set = (index, shown) => {
        press(all[index], shown);
        changed(index, shown);
    };
    const list = element("div", { className: "lines" }, ...all);
    const box = element("div", { className: "legend" });
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Lines; a pressed button shows its line");
    if (lines.length > 1) {
        const every = shown => () => all.forEach((_, index) => set(index, shown));
        box.append(element("div", { className: "every" }, button("all", "Show all lines", every(true)),
            button("none", "Hide all lines", every(false))));
    }
    box.append(list);
    const say = texts => values.forEach((value, index) => { value.textContent = texts?.[index] ?? ""; });
    return { box, say };
}
