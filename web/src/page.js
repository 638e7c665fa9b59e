// The script of a page with one run or several: turns the static pictures into ones that can be
// zoomed, asked and hidden. Without it the page is whole, only still.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

window.latlab = { uPlot };
