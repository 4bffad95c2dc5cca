// Charts of numbers over time: stacked bars, drawn by uPlot.

import { element, html } from './template.js';

/** 1, 2, 5, 10, 20, 50 and so on: requests are whole numbers. */
const wholeSteps = Array.from({ length: 36 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));
const valueSize = 64; // the width of the axis of the values

let loaded = null;

/** Loads uPlot and its styles when the first chart is drawn. */
function load() {
  loaded ??= Promise.all([import('./vendor/uPlot.esm.js'), loadStyles()]).then(([module]) => module.default).catch(() => {
    loaded = null;
    throw new Error('The chart cannot be loaded. The tables have the same numbers.');
  });
  return loaded;
}

const loadStyles = () => new Promise((resolve, reject) => {
  document.head.append(element(html`<link rel="stylesheet" href=${new URL('./vendor/uPlot.min.css', import.meta.url)} @load=${resolve} @error=${reject}>`));
});

/**
 * Draws bars into an element. Returns a function that removes the chart.
 * @param {HTMLElement} place
 * @param {{xs: number[], ticks?: {x: number, label: string}[], markers?: number[], groups: {pattern: string, title: string}[],
 *   values: number[][], signal: AbortSignal, read: (i: ?number) => void}} data `xs` are whole numbers from 1 on, such as the days of a month.
 *   `ticks` label them, as many as fit; without them the numbers do. `markers` are places of dashed lines. `values` has the counts of the
 *   groups for each bar, and `read` is called with the index of the bar under the pointer.
 */
export async function drawChart(place, { xs, ticks, markers = [], groups, values, signal, read }) {
  const Plot = await load();
  if (signal.aborted) return () => {};
  const size = () => ({ width: place.clientWidth - 16, height: 260 }); // without the padding
  const schemes = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => window.matchMedia(query));
  // uPlot draws the series in order, so the sum of all groups comes first and the others cover it. Null draws no bar.
  const series = groups.map((group, i) => ({
    group,
    sums: values.map((counts) => (counts[i] === 0 ? null : counts.slice(0, i + 1).reduce((a, b) => a + b, 0))),
  })).reverse();
  let plot;
  const draw = () => {
    place.replaceChildren();
    plot?.destroy();
    const color = colorsOf(place);
    const font = `12px ${getComputedStyle(place).fontFamily}`;
    const axis = { stroke: color('--axis'), font, grid: { stroke: color('--grid'), width: 1 }, ticks: { show: false } };
    plot = new Plot({
      ...size(),
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      padding: [12, 4, 0, 0],
      scales: { x: { time: false, range: [0.4, xs.length + 0.6] }, y: { range: (_, low, high) => [0, Math.max(4, high * 1.05)] } },
      axes: [
        { ...axis, size: 28, grid: { show: false }, ...ticks ? labelled(ticks, () => size().width - valueSize) : { incrs: [1, 2, 5, 10], space: 30 } },
        { ...axis, size: valueSize, incrs: wholeSteps, values: (_, all) => all.map((n) => n.toLocaleString('en')) },
      ],
      series: [{}, ...series.map(({ group }) => ({
        label: group.title,
        fill: pattern(group.pattern, color(`--${group.pattern}`), color('--ground')),
        stroke: color(`--${group.pattern}`),
        width: 1,
        points: { show: false },
        paths: Plot.paths.bars({ size: [0.7, 40] }),
      }))],
      hooks: {
        draw: [(drawn) => drawMarkers(drawn, markers, color('--axis'))],
        setCursor: [({ cursor: { idx, left } }) => read(left < 0 || idx === undefined || idx === null ? null : idx)],
      },
    }, [xs, ...series.map(({ sums }) => sums)], place);
  };
  draw();
  const resized = new ResizeObserver(() => plot.setSize(size()));
  resized.observe(place);
  for (const scheme of schemes) scheme.addEventListener('change', draw);
  return () => {
    resized.disconnect();
    for (const scheme of schemes) scheme.removeEventListener('change', draw);
    plot.destroy();
  };
}

/** The options of an axis with labels, of which only as many are shown as fit into the width. */
function labelled(ticks, width) {
  const space = 72; // of a label
  const labels = new Map(ticks.map(({ x, label }) => [x, label]));
  return {
    splits: () => [...labels.keys()].filter((_, i) => i % Math.ceil(ticks.length * space / width()) === 0),
    values: (_, all) => all.map((x) => labels.get(x)),
  };
}

/** Draws dashed lines from the top to the bottom. */
function drawMarkers({ ctx: canvas, bbox, valToPos }, markers, color) {
  canvas.save();
  canvas.strokeStyle = color;
  canvas.lineWidth = window.devicePixelRatio;
  canvas.setLineDash([4 * window.devicePixelRatio, 3 * window.devicePixelRatio]);
  canvas.beginPath();
  for (const x of markers) {
    const left = valToPos(x, 'x', true);
    canvas.moveTo(left, bbox.top);
    canvas.lineTo(left, bbox.top + bbox.height);
  }
  canvas.stroke();
  canvas.restore();
}

/** Returns a function that resolves a custom property, which may contain light-dark(), to a color that a canvas understands. */
function colorsOf(place) {
  const probe = element(html`<span hidden></span>`);
  probe.style.forcedColorAdjust = 'none'; // otherwise all colors are those of text
  place.append(probe);
  return (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
}

/** A fill that differs without its color. It covers what is below it. */
function pattern(name, color, ground) {
  if (name === 'solid') return color;
  const size = 8 * Math.ceil(window.devicePixelRatio);
  const canvas = element(html`<canvas width=${size} height=${size}></canvas>`);
  const context = canvas.getContext('2d');
  context.fillStyle = name === 'stripes' ? ground : color;
  context.fillRect(0, 0, size, size);
  context.fillStyle = name === 'stripes' ? color : ground;
  context.strokeStyle = color;
  context.lineWidth = size / 4;
  context.beginPath();
  if (name === 'stripes') {
    for (const from of [-size, 0, size]) {
      context.moveTo(from - 2, size + 2);
      context.lineTo(from + size + 2, -2);
    }
    context.stroke();
  } else {
    context.arc(size / 2, size / 2, size / 5, 0, 7);
    context.fill();
  }
  return context.createPattern(canvas, 'repeat');
}
