// The runs of a page as tabs; an anchor inside a run shows its tab.

export function tabs(shown) {
    const bar = document.querySelector("nav.runs");
    if (!bar) return shown(null);
    const links = [...bar.querySelectorAll("a")];
    const panels = links.map(link => document.getElementById(link.hash.slice(1)));
    bar.setAttribute("role", "tablist");
    const select = (index, isFocused) => {
        links.forEach((link, at) => {
            link.setAttribute("aria-selected", String(at === index));
            link.tabIndex = at === index ? 0 : -1;
            panels[at].classList.toggle("away", at !== index);
        });
        if (isFocused) links[index].focus();
        shown(panels[index].id);
    };
    links.forEach((link, index) => {
        link.setAttribute("role", "tab");
        link.setAttribute("aria-controls", panels[index].id);
        panels[index].setAttribute("role", "tabpanel");
        link.onclick = event => {
            event.preventDefault();
            history.replaceState(null, "", link.hash);
            select(index);
        };
        link.onkeydown = ({ key }) => {
            const turn = { ArrowRight: 1, ArrowLeft: -1 }[key];
            if (turn) select((index + turn + links.length) % links.length, true);
        };
    });
    const follow = () => {
        const target = location.hash && document.getElementById(location.hash.slice(1));
        const index = target ? panels.findIndex(panel => panel.contains(target)) : -1;
        select(Math.max(0, index));
        if (index >= 0 && target !== panels[index]) target.scrollIntoView();
    };
    addEventListener("hashchange", follow);
    follow();
}
