// Requests of a month: a chart by day and group, the same numbers as tables, and as CSV.

import { call } from '../api.js';
import { append, h, loading, replace, row, table, text, uniqueId, withBar } from '../dom.js';
import { drawChart } from '../chart.js';
import { csv } from '../csv.js';
import { downloadFile } from '../download.js';

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
    append(content, h('p', { class: 'empty' }, problem, ' ', h('a', { href: '#/traffic' }, 'Show the current month'), '.'));
    return;
  }
  const title = monthName(month);
  const report = h('div', null, loading('the traffic'));
  append(content,
    h('p', { class: 'lead' }, 'Requests that the API has received, by day. A request is counted about one second after its response. ' +
      'Days begin at midnight UTC.'),
    h('div', { class: 'title' },
      h('h2', null, title),
      h('div', { class: 'months' },
        monthLink(addMonths(month, -1), '‹ Previous month'),
        month < now ? monthLink(addMonths(month, 1), 'Next month ›') : h('span', { class: 'detail' }, 'This is the current month'))),
    report);

  const { apiData } = await call('GET', `/api/admin/metrics/traffic/${month}`, undefined, { signal });
  if (apiData.length === 0) {
    replace(report, h('p', { class: 'empty' }, `No requests were counted in ${title}.`));
    return;
  }
  const paths = apiData.map(({ apiPath, days }) => ({
    path: apiPath,
    days: new Map(days.map(({ day, trafficTypes }) => [day.slice(0, 10), counts(trafficTypes)])),
  }));
  showReport(report, { month, title, paths, signal, announce });
}

function showReport(report, { month, title, paths, signal, announce }) {
  const days = daysOf(month);
  const choice = h('select', { id: uniqueId(), onchange: showDays },
    h('option', { value: allPaths }, 'All paths'),
    Object.entries(callers).map(([name, { title: label, of }]) => {
      const own = paths.filter(({ path }) => of(path));
      return own.length > 0 && h('optgroup', { label }, h('option', { value: name }, `${label}: all paths`), own.map(({ path }) => h('option', { value: path }, path)));
    }));
  const chart = h('div', { class: 'chart', role: 'img' });
  const selected = h('p', { class: 'detail reading', 'aria-hidden': 'true' });
  const byDay = h('div', { class: 'scroll' });
  const sums = h('dl', { class: 'sums' });
  replace(report,
    h('div', { class: 'filter' }, h('label', { for: choice.id }, 'Path'), choice,
      h('button', { type: 'button', onclick: download }, 'Download CSV')),
    sums, chart, selected,
    h('section', null, h('div', { class: 'title' }, h('h2', null, 'By day')), byDay),
    h('section', null, h('div', { class: 'title' }, h('h2', null, 'By path'), h('a', { href: 'api/' }, 'What the paths do')),
      Object.values(callers).map((caller) => pathTable(paths, caller))),
    h('section', null, h('div', { class: 'title' }, h('h2', null, 'By whom')),
      h('p', { class: 'by-whom' }, 'Requests are counted by path, not by caller. Who calls: ',
        h('a', { href: credentials }, 'credentials by last use'), ' and ', h('a', { href: '#/usage' }, 'applications with their usage'), '.')));
  let remove = () => {};
  let turn = 0;
  signal.addEventListener('abort', () => remove());
  showDays();

  async function showDays() {
    const shown = paths.filter(({ path }) => choice.value === allPaths || choice.value === path || callers[choice.value]?.of(path));
    const byDate = days.map((date) => sum(shown.map((item) => item.days.get(date))));
    const total = sum(byDate);
    const subject = choice.value === allPaths ? 'all paths' : callers[choice.value]?.title.toLowerCase() ?? choice.value;
    replace(sums,
      h('div', null, h('dt', null, 'All requests'), h('dd', null, number(whole(total)))),
      ...groups.map((group, i) => h('div', null,
        h('dt', null, h('span', { class: `swatch ${group.pattern}`, 'aria-hidden': 'true' }), group.title),
        h('dd', null, number(total[i])))));
    replace(byDay, dayTable(subject, title, days, byDate, total));
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
      selected.textContent = i === null ? '' :
        `${longDay(days[i])}: ${groups.map(({ short }, g) => `${number(byDate[i][g])} ${short.toLowerCase()}`).join(', ')}`;
    }
  }

  function download() {
    downloadFile(`traffic-${month}.csv`, csvOf(paths));
    announce(`traffic-${month}.csv was downloaded.`);
  }
}

function dayTable(subject, title, days, byDate, total) {
  const columns = ['Day', ...groups.map((group) => group.short), 'All'];
  const rows = days.map((date, i) => numberRow(columns, dayCell(date), byDate[i])).filter((_, i) => whole(byDate[i]) > 0);
  const element = withNumbers(table(`Requests per day in ${title}, ${subject}`, columns, [...rows, numberRow(columns, 'Month', total)]));
  element.classList.add('compact');
  return element;
}

/** The requests per path of some callers, with the share of all requests. */
function pathTable(paths, { title, of }) {
  const columns = [title, ...groups.map((group) => group.short), 'All', 'Share'];
  const totals = paths.map(({ path, days }) => ({ path, total: sum([...days.values()]) })).sort((a, b) => whole(b.total) - whole(a.total));
  const all = totals.reduce((count, { total }) => count + whole(total), 0);
  const own = totals.filter(({ path }) => of(path));
  if (own.length === 0) return null;
  const rows = own.map(({ path, total }) => {
    const part = whole(total) / all;
    return numberRow(columns, h('code', null, text(path)), total, withBar(`${(100 * part).toFixed(1)}%`, part));
  });
  return withNumbers(table(`Requests per path: ${title}`, columns, rows));
}

const numberRow = (columns, head, total, ...more) => row(columns, [head, ...total.map(number), number(whole(total)), ...more]);

function withNumbers(element) {
  element.classList.add('numbers');
  return element;
}

/** Returns the numbers as RFC 4180 describes it: one line for each day and path. */
function csvOf(paths) {
  const header = ['day', 'path', ...groups.map(({ name }) => name)];
  const lines = paths.flatMap(({ path, days }) => [...days].map(([date, total]) => [date, path, ...total]));
  lines.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : 1));
  return csv([header, ...lines]);
}

const monthLink = (month, label) => (month === null ? null : h('a', { href: `#/traffic/${month}` }, label));

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

const dayCell = (date) => [
  h('span', { class: 'weekday' }, `${format(date, { weekday: 'short' })}, `),
  format(date, { day: 'numeric', month: 'short' }),
];

const counts = (types) => groups.map(({ name }) => types.find(({ group }) => group === name)?.count ?? 0);

const sum = (all) => groups.map((_, i) => all.reduce((total, item) => total + (item?.[i] ?? 0), 0));

const whole = (total) => total.reduce((a, b) => a + b, 0);
