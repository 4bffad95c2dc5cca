// Requests of a month: a chart by day and group, the same numbers as tables, and as CSV.

import { call } from '../api.js';
import { drawChart } from '../chart.js';
import { csv } from '../csv.js';
import { loading, text } from '../dom.js';
import { downloadFile } from '../download.js';
import { numberTable, withBar } from '../table.js';
import { element, html, live, nothing, render as show } from '../template.js';

/** The groups of contract section 4.6, from the bottom of a bar to its top. */
const groups = [
  { name: 'successful-requests', title: 'Successful (2xx, 3xx)', short: 'Successful', pattern: 'solid' },
  { name: 'client-errors', title: 'Client errors (4xx)', short: 'Client errors', pattern: 'stripes' },
  { name: 'server-errors', title: 'Server errors (5xx)', short: 'Server errors', pattern: 'dots' },
];
const allPaths = '';
/** Who sends the requests, by the paths that they use. */
const callers = {
  applications: { title: 'Applications', of: (path) => /^\/(api\/(client|frontend)|edge|ofrep)(\/|$)/.test(path) },
  administration: { title: 'Administration', of: (path) => !callers.applications.of(path) },
};
/** The address of all credentials, those that were used last first. */
const credentials = '#/api-tokens?sortBy=seenAt&sortOrder=desc';
const number = (count) => count.toLocaleString('en');

/** Months and days are UTC, as in the API. The fragment names the month: #/traffic/2026-11. */
export async function render(content, { detail, signal, announce }) {
  const now = new Date().toISOString().slice(0, 7);
  const month = detail || now;
  const problem = !validMonth(month) ? `“${month}” is not a month. A month is a year and a number from 01 to 12, such as ${now}.`
    : month > now ? `${monthName(month)} has not begun.` : null;
  if (problem) {
    show(html`<p class="empty">${problem} <a href="#/traffic">Show the current month</a>.</p>`, content);
    return;
  }
  const title = monthName(month);
  const draw = (report) => show(html`
    <p class="lead">Requests that the API has received, by day. A request is counted about one second after its response. Days begin at midnight UTC.</p>
    <div class="title">
      <h2>${title}</h2>
      <div class="months">
        ${monthLink(addMonths(month, -1), '‹ Previous month')}
        ${month < now ? monthLink(addMonths(month, 1), 'Next month ›') : html`<span class="detail">This is the current month</span>`}</div></div>
    <div>${report}</div>`, content);
  draw(loading('the traffic'));
  const { apiData } = await call('GET', `/api/admin/metrics/traffic/${month}`, undefined, { signal });
  if (apiData.length === 0) {
    draw(html`<p class="empty">No requests were counted in ${title}.</p>`);
    return;
  }
  const paths = apiData.map(({ apiPath, days }) => ({
    path: apiPath,
    days: new Map(days.map(({ day, trafficTypes }) => [day.slice(0, 10), counts(trafficTypes)])),
  }));
  const report = trafficReport({ month, title, paths, signal, announce }, () => draw(report.template()));
  await report.showDays();
}

/** The report of a month: the paths that are chosen as numbers, as a chart and by day, and all paths. */
function trafficReport({ month, title, paths, signal, announce }, draw) {
  const days = daysOf(month);
  const state = { choice: allPaths, reading: '' };
  const chart = element(html`<div class="chart" role="img"></div>`);
  let remove = () => {};
  let turn = 0;
  signal.addEventListener('abort', () => remove());
  return { showDays, template };

  /** The numbers of the paths that are chosen, and what they are called. */
  function chosen() {
    const { choice } = state;
    const shown = paths.filter(({ path }) => choice === allPaths || choice === path || callers[choice]?.of(path));
    const byDate = days.map((date) => sum(shown.map((item) => item.days.get(date))));
    return { byDate, total: sum(byDate), subject: choice === allPaths ? 'all paths' : callers[choice]?.title.toLowerCase() ?? choice };
  }

  function template() {
    const { byDate, total, subject } = chosen();
    return html`
      <div class="filter"><label for="path">Path</label>${choices()}
        <button type="button" @click=${download}>Download CSV</button></div>
      <dl class="sums"><div><dt>All requests</dt><dd>${number(whole(total))}</dd></div>
        ${groups.map((group, i) => html`<div>
          <dt><span class="swatch ${group.pattern}" aria-hidden="true"></span>${group.title}</dt>
          <dd>${number(total[i])}</dd></div>`)}</dl>
      ${chart}
      <p class="detail reading" aria-hidden="true">${state.reading}</p>
      <section><div class="title"><h2>By day</h2></div><div class="scroll">${dayTable(subject, title, days, byDate, total)}</div></section>
      <section><div class="title"><h2>By path</h2><a href="api/">What the paths do</a></div>
        ${Object.values(callers).map((caller) => pathTable(paths, caller))}</section>
      <section><div class="title"><h2>By whom</h2></div>
        <p class="by-whom">Requests are counted by path, not by caller. Who calls: <a href=${credentials}>credentials by last use</a> and
          <a href="#/usage">applications with their usage</a>.</p></section>`;
  }

  function choices() {
    const option = (value, label) => html`<option value=${value} .selected=${live(value === state.choice)}>${label}</option>`;
    return html`<select id="path" @change=${({ target }) => { state.choice = target.value; showDays(); }}>
      ${option(allPaths, 'All paths')}
      ${Object.entries(callers).map(([name, { title: label, of }]) => {
    const own = paths.filter(({ path }) => of(path));
    return own.length === 0 ? nothing : html`<optgroup label=${label}>${option(name, `${label}: all paths`)}${own.map(({ path }) => option(path, path))}</optgroup>`;
  })}</select>`;
  }

  async function showDays() {
    state.reading = '';
    draw();
    const { byDate, subject } = chosen();
    chart.setAttribute('aria-label', `Requests per day in ${title}, ${subject}. The table “By day” has the same numbers.`);
    remove();
    remove = () => {};
    turn += 1;
    const drawing = turn;
    try {
      const removeThis = await drawChart(chart, { xs: days.map((date) => Number(date.slice(8))), groups, values: byDate, signal, read });
      if (drawing === turn && !signal.aborted) remove = removeThis;
      else removeThis();
    } catch (error) {
      chart.textContent = error.message;
    }

    function read(i) {
      state.reading = i === null ? ''
        : `${longDay(days[i])}: ${groups.map(({ short }, g) => `${number(byDate[i][g])} ${short.toLowerCase()}`).join(', ')}`;
      draw();
    }
  }

  function download() {
    downloadFile(`traffic-${month}.csv`, csvOf(paths));
    announce(`traffic-${month}.csv was downloaded.`);
  }
}

function dayTable(subject, title, days, byDate, total) {
  const rows = days.map((date, i) => numbers(dayCell(date), byDate[i])).filter((_, i) => whole(byDate[i]) > 0);
  return numberTable(`Requests per day in ${title}, ${subject}`, ['Day', ...groups.map((group) => group.short), 'All'],
    [...rows, numbers('Month', total)], 'compact');
}

/** The requests per path of some callers, with the share of all requests. */
function pathTable(paths, { title, of }) {
  const totals = paths.map(({ path, days }) => ({ path, total: sum([...days.values()]) })).sort((a, b) => whole(b.total) - whole(a.total));
  const all = totals.reduce((count, { total }) => count + whole(total), 0);
  const own = totals.filter(({ path }) => of(path));
  if (own.length === 0) return nothing;
  return numberTable(`Requests per path: ${title}`, [title, ...groups.map((group) => group.short), 'All', 'Share'], own.map(({ path, total }) => {
    const part = whole(total) / all;
    return [...numbers(html`<code>${text(path)}</code>`, total), withBar(`${(100 * part).toFixed(1)}%`, part)];
  }));
}

/** The cells of a row: its header, the counts of the groups, and their sum. */
const numbers = (head, total) => [head, ...total.map(number), number(whole(total))];

/** Returns the numbers as RFC 4180 describes it: one line for each day and path. */
function csvOf(paths) {
  const header = ['day', 'path', ...groups.map(({ name }) => name)];
  const lines = paths.flatMap(({ path, days }) => [...days].map(([date, total]) => [date, path, ...total]));
  lines.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1));
  return csv([header, ...lines]);
}

const monthLink = (month, label) => (month === null ? nothing : html`<a href="#/traffic/${month}">${label}</a>`);

const validMonth = (value) => /^\d{4}-(0[1-9]|1[0-2])$/.test(value) && value >= '0001-01';

/** Returns the month before or after, or null outside the years 1 to 9999. */
function addMonths(month, by) {
  const count = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1 + by;
  const result = `${String(Math.floor(count / 12)).padStart(4, '0')}-${String(count % 12 + 1).padStart(2, '0')}`;
  return validMonth(result) ? result : null;
}

function daysOf(month) {
  const first = new Date(`${month}-01T00:00:00Z`);
  const days = [];
  for (const date = new Date(first); date.getUTCMonth() === first.getUTCMonth(); date.setUTCDate(date.getUTCDate() + 1)) {
    days.push(date.toISOString().slice(0, 10));
  }
  return days;
}

const format = (date, options) => new Date(`${date}T00:00:00Z`).toLocaleDateString('en', { ...options, timeZone: 'UTC' });

const monthName = (month) => format(`${month}-01`, { month: 'long', year: 'numeric' });

const longDay = (date) => format(date, { weekday: 'short', day: 'numeric', month: 'short' });

const dayCell = (date) => html`<span class="weekday">${format(date, { weekday: 'short' })}, </span>${format(date, { day: 'numeric', month: 'short' })}`;

const counts = (types) => groups.map(({ name }) => types.find(({ group }) => group === name)?.count ?? 0);

const sum = (all) => groups.map((_, i) => all.reduce((total, item) => total + (item?.[i] ?? 0), 0));

const whole = (total) => total.reduce((a, b) => a + b, 0);
