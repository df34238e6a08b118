"use strict";
// Draw the figures of the page with plotly.js: all share one time axis, with the events named.
const { plots, events, end } = JSON.parse(document.getElementById("figures").textContent);
const drawings = [...document.querySelectorAll(".plot")];
const dark = matchMedia("(prefers-color-scheme: dark)");
const NAME_HEIGHT = 13;

// `dockfmu view` serves this page next to the replay
const replay = document.getElementById("replay");
if (replay && location.protocol === "http:") replay.innerHTML = '<a href="./">Replay</a>';

// Events whose labels would overlap share one label, which counts the events that it omits.
function labels(drawing, range) {
  const width = (drawing.clientWidth || 900) - 90;
  const visible = events.filter(([t]) => t >= range[0] && t <= range[1]);
  const groups = [];
  for (const [t, name] of visible) {
    const last = groups.at(-1);
    const place = ((t - range[0]) / (range[1] - range[0])) * width;
    if (last && place - last.place < NAME_HEIGHT) last.more += 1;
    else groups.push({ t, name, place, more: 0 });
  }
  return groups.map(({ t, name, place, more }) => ({
    text: more ? `${name} +${more}` : name, x: t, y: 1, xref: "x", yref: "paper", textangle: -90, showarrow: false,
    xanchor: place > width - NAME_HEIGHT ? "right" : "left", yanchor: "top", xshift: -2, opacity: 0.75,
    font: { size: 10 },
  }));
}

const numbers = ({ bdata, dtype }) =>
  new (dtype === "f8" ? Float64Array : Float32Array)(Uint8Array.from(atob(bdata), (c) => c.charCodeAt(0)).buffer);
const points = plots.map(({ traces }) => traces.map((t) => ({ x: numbers(t.x), y: numbers(t.y), step: t.line.shape })));

// Smallest and largest value in a range of time, with those at its ends: what happens at other times would flatten it.
function extremes(curves, [start, end]) {
  let low = Infinity;
  let high = -Infinity;
  const see = (value) => {
    if (value < low) low = value;
    if (value > high) high = value;
  };
  for (const { x, y, step } of curves)
    for (let k = 0; k < x.length; k++) {
      if (x[k] >= start && x[k] <= end) see(y[k]);
      for (const edge of [start, end])
        if (x[k] < edge && x[k + 1] > edge)
          see(step === "hv" ? y[k] : y[k] + ((y[k + 1] - y[k]) * (edge - x[k])) / (x[k + 1] - x[k]));
    }
  return [low, high];
}

// The range of the value axis, with a margin; undefined leaves it to plotly.js, as for a curve that stays at one value.
function valueRange(curves, range) {
  const [low, high] = extremes(curves, range);
  const margin = 0.06 * (high - low);
  const drawn = margin > 1e-7 * Math.max(Math.abs(low), Math.abs(high)) && Number.isFinite(margin);
  return drawn ? [low - margin, high + margin] : undefined;
}

function layout(drawing, plot, curves, range) {
  const colour = getComputedStyle(document.body);
  const narrow = drawing.clientWidth < 600;
  const grid = dark.matches ? "#333940" : "#e6e6e6";
  const longest = Math.max(0, ...plot.ticks.map(([, name]) => name.length));
  const y = plot.ticks.length
    ? { tickvals: plot.ticks.map(([v]) => v), ticktext: plot.ticks.map(([, name]) => name) }
    : { title: { text: plot.unit, standoff: 4 }, range: valueRange(curves, range) };
  return {
    xaxis: { range, title: { text: "time, s", standoff: 4 }, gridcolor: grid, zerolinecolor: grid },
    yaxis: { ...y, gridcolor: grid, zerolinecolor: grid, tickfont: { size: plot.ticks.length ? 10 : 12 } },
    margin: { l: Math.min(Math.max(64, 16 + 6 * longest), narrow ? 130 : 220), r: 14, t: narrow ? 30 : 24, b: 40 },
    legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", font: { size: 11 } },
    shapes: events.map(([t]) => ({
      type: "line", xref: "x", yref: "paper", x0: t, x1: t, y0: 0, y1: 1,
      line: { color: "#999999", width: 0.8, dash: "dot" },
    })),
    annotations: plot.lanes ? [] : labels(drawing, range),
    font: { color: colour.color, family: colour.fontFamily },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: "#999999", activecolor: colour.color },
    hovermode: "x unified", hoverlabel: { bgcolor: colour.backgroundColor }, dragmode: "zoom",
  };
}

let shown = [0, 1];

function draw(range) {
  shown = range;
  drawings.forEach((drawing, k) =>
    Plotly.react(drawing, plots[k].traces, layout(drawing, plots[k], points[k], range), {
      responsive: true, displaylogo: false, displayModeBar: "hover", modeBarButtonsToRemove: ["lasso2d", "select2d"],
    }));
}

const whole = [end[0], Math.max(end[1], end[0] + 1e-9)];
const buttons = [...document.querySelectorAll("#windows button")];
const range = (button) => (button.dataset.window ? button.dataset.window.split(" ").map(Number) : whole);

// The first button is that of the impact, if the page has one.
function choose(button) {
  for (const other of buttons) other.setAttribute("aria-pressed", other === button);
  draw(range(button));
}

choose(buttons[0]);
for (const drawing of drawings)
  drawing.on("plotly_relayout", (change) => {
    const range = change["xaxis.autorange"] ? whole : [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    if (range[0] === undefined || (range[0] === shown[0] && range[1] === shown[1])) return;
    for (const button of buttons) button.setAttribute("aria-pressed", false);
    draw(range.map(Number));
  });
dark.addEventListener("change", () => draw(shown));
addEventListener("resize", () => draw(shown));
const windows = document.getElementById("windows");
windows.hidden = drawings.length === 0;
for (const button of buttons) button.addEventListener("click", () => choose(button));
