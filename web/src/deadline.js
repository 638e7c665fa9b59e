// The deadline in a chart: a line, and a shade over everything beyond it.
import { colour } from "./pens.js";

// No axis reaches out to a deadline beyond this many times the largest latency, as in the still pictures.
const FAR = 100;

export const isNear = (deadline, largest) => deadline != null && deadline < FAR * Math.max(1, largest);

// Draws it on this scale of latencies, with its label above the plotted area, where nothing else is drawn.
export function mark(u, scale, deadline, words) {
    if (deadline == null) return;
    const { ctx, bbox } = u, ratio = devicePixelRatio, { min, max } = u.scales[scale];
    const { left, top, width, height } = bbox, right = left + width, isAcross = scale === "x";
    const isOff = deadline > max, at = u.valToPos(Math.max(min, Math.min(max, deadline)), scale, true);
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = colour("--ll-deadline");
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    // Earlier drawing may have left a dash pattern.
    ctx.setLineDash([]);
    ctx.textBaseline = "alphabetic";
    const text = isOff ? `${words}: off the chart` : words, half = ctx.measureText(text).width / 2;
    ctx.fillText(text, isAcross ? Math.min(right - half, Math.max(left + half, at)) : right - half, top - 5 * ratio);
    if (!isOff) {
        ctx.lineWidth = 1.5 * ratio;
        ctx.beginPath();
        ctx.moveTo(isAcross ? at : left, isAcross ? top : at);
        ctx.lineTo(isAcross ? at : right, isAcross ? top + height : at);
        ctx.stroke();
        ctx.globalAlpha = 0.1;
        if (isAcross) ctx.fillRect(at, top, right - at, height);
        else ctx.fillRect(left, top, width, at - top);
    }
    ctx.restore();
}
