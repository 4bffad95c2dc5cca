// The tab Usage of a toggle: when and how often applications use it in each environment, as a chart and as tables. The address has the
// environment and the days: `?tab=usage&environment=production&days=7`.

import { call } from '../api.js';
import { applicationLink } from '../application.js';
import { drawChart } from '../chart.js';
import { reportHint } from '../client-token.js';
import { counted, failure, loading, text } from '../dom.js';
import { environmentName, isProduction } from '../environment.js';
import { searchEvents } from '../event-search.js';
import { numberTable, withBar } from '../table.js';
import { element, html, nothing } from '../template.js';
import { exactTime, formatTime, locale, relativeTime, shortDate, timeOfDay } from '../time.js';
import { lastUsed, toggleAddress } from '../toggle.js';
import { byApplication, byTime, byVariant, firstDay, periods, usagePath } from '../usage-counts.js';

const mostEvents = 100;
const groups = [{ title: 'On', pattern: 'solid' }, { title: 'Off', pattern: 'stripes' }];
const number = (count) => count.toLocaleString('en');
/** @type {Intl.DateTimeFormatOptions} */
const dayAndMonth = { month: 'short', day: 'numeric' };

/**
 * The usage of a toggle.
 * @param {{may: (permission: string) => boolean, signal: AbortSignal}} context of the page
 * @param {() => void} draw shows the page, after each change
 * @returns {{load: (toggle: Object, parameters: URLSearchParams) => Promise<void>, leave: () => void, template: () => unknown}} `load` loads
 *   what an address selects, and `leave` ends it when the page shows another tab
 */
export function toggleUsage({ may, signal }, draw) {
  const state = {
    toggle: null,
    days: 1,
    environment: null, // of the chart and the tables
    recent: null, // the usage of the last 24 hours
    data: null, // the usage of the days
    events: [], // changes of the toggle in these days, the newest first
    now: 0, // when it was loaded
    busy: false,
    error: null,
  };
  const chart = element(html`<div class="chart" role="img"></div>`);
  const reading = element(html`<p class="detail reading" aria-hidden="true"></p>`); // the part of the chart under the pointer
  let newest = new AbortController(); // of the newest load
  let remove = () => {}; // the chart
  signal.addEventListener('abort', leave);
  return { load, leave, template };

  async function load(toggle, parameters) {
    leave();
    newest = new AbortController();
    const current = AbortSignal.any([signal, newest.signal]);
    const days = Object.hasOwn(periods, parameters.get('days')) ? Number(parameters.get('days')) : 1;
    Object.assign(state, { toggle, busy: true, error: null });
    draw();
    const raw = async (of) => (await call('GET', `${usagePath(toggle)}/raw?hoursBack=${24 * of}`, undefined, { signal: current })).data;
    try {
      const now = Date.now();
      const [recent, long, { events }] = await Promise.all([
        raw(1), days > 1 ? raw(days) : null, searchEvents({ feature: toggle.name, from: firstDay(days, now) }, current, mostEvents)]);
      const data = long ?? recent;
      Object.assign(state, { days, recent, data, events, now, environment: chosen(toggle, data, parameters.get('environment')), busy: false });
    } catch (error) {
      if (current.aborted) return;
      Object.assign(state, { days, busy: false, data: null, error: error.status === 400 && days > 1
        ? new Error(`There is too much usage in ${periods[days]} to show it. Choose a shorter time.`) : error });
    }
    draw();
    if (!current.aborted && chart.isConnected) await showChart(current);
  }

  function leave() {
    newest.abort();
    remove();
    remove = () => {};
  }

  /** The usage in the environment that is shown. */
  function shown() {
    return state.data.filter(({ environment }) => environment === state.environment.name);
  }

  /** The changes in the days that are shown, in the environment or in all. */
  function changes({ parts }) {
    return state.events.filter(({ createdAt, environment }) => (
      new Date(createdAt) >= parts[0].start && (!environment || environment === state.environment.name)));
  }

  async function showChart(current) {
    const usage = byTime(shown(), state.days, state.now);
    const { size, parts } = usage;
    const { toggle, environment, days } = state;
    chart.setAttribute('aria-label', `How often ${toggle.name} was on and off in ${environment.name} in the last ${periods[days]}. ` +
      'The table below has the same numbers.');
    try {
      const drawn = await drawChart(chart, {
        xs: parts.map((_, i) => i + 1),
        ticks: parts.map(({ start }, i) => ({ x: i + 1, label: tickLabel(start, state.days) })).filter(({ label }) => label),
        markers: changes(usage).map(({ createdAt }) => 0.5 + (Date.parse(createdAt) - parts[0].start) / size),
        groups,
        values: parts.map(({ yes, no }) => [yes, no]),
        signal: current,
        read: (i) => {
          const part = parts[i];
          reading.textContent = part ? `${partLabel(part.start, state.days)}: ${number(part.yes)} on, ${number(part.no)} off` : '';
        },
      });
      if (current.aborted) drawn();
      else remove = drawn;
    } catch (error) {
      chart.textContent = error.message;
    }
  }

  function template() {
    const { toggle, data, error, busy } = state;
    const again = () => load(toggle, new URLSearchParams({ days: String(state.days) }));
    if (error) return html`<section class="usage-panel" aria-label="Usage">${choices()}${failure(error, again)}</section>`;
    if (!data) return loading('the usage');
    if (!state.environment || !toggle.lastSeenAt && data.length === 0) return neverUsed();
    return html`<section class="usage-panel" aria-label="Usage" aria-busy=${busy ? 'true' : nothing}>
      <h2>${environmentName(state.environment)}</h2>
      ${choices()}
      ${shown().some(({ yes, no }) => yes + no > 0) ? numbers() : html`<p class="empty">No application has used the toggle in ${state.environment.name} in the last ${
    periods[state.days]}.</p>`}
      <h2>All environments</h2>
      ${environments()}
    </section>`;
  }

  function neverUsed() {
    return html`<section aria-label="Usage"><p class="empty">No application has used this toggle yet. ${reportHint(may, state.toggle)}</p></section>`;
  }

  /** The last use in each environment. */
  function environments() {
    const columns = ['Environment', 'Last used', 'On this hour', 'Off this hour', 'Applications in 24 hours'];
    const hour = Math.floor(state.now / 3_600_000) * 3_600_000; // the running one
    const cells = (item) => {
      const recent = state.recent.filter(({ environment }) => environment === item.name);
      const { yes, no } = byTime(recent, 1, state.now).parts.at(-1);
      const names = byApplication(recent).map(({ name }) => name).sort();
      return html`<tr role="row">
        <th role="rowheader" scope="row">${environmentName(item)}</th>
        <td role="cell" data-label="Last used"><div>${lastUsed({ lastSeenAt: latest(item.lastSeenAt, recent) })}</div></td>
        <td role="cell" data-label="On this hour">${number(yes)}</td>
        <td role="cell" data-label="Off this hour">${number(no)}</td>
        <td role="cell" data-label="Applications">${names.length === 0 ? html`<span class="detail">None</span>`
    : html`<ul class="values">${names.map((name) => html`<li>${applicationLink(name)}</li>`)}</ul>`}</td>
      </tr>`;
    };
    return html`<table role="table" class="environment-usage">
      <caption class="visually-hidden">Usage in each environment</caption>
      <thead role="rowgroup"><tr role="row">${columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`)}</tr></thead>
      <tbody role="rowgroup">${state.toggle.environments.map(cells)}</tbody>
    </table>
    <p class="detail">The hour began at ${timeOfDay(hour)}. “Last used” is when an SDK last reported that its application evaluated the toggle. It is up to an hour old.</p>`;
  }

  function choices() {
    const address = (choice) => `${toggleAddress(state.toggle)}?${new URLSearchParams({
      tab: 'usage', ...state.environment && { environment: state.environment.name }, days: String(state.days), ...choice })}`;
    const link = (href, label, isCurrent) => html`<li><a data-here href=${href} aria-current=${isCurrent ? 'true' : nothing}>${label}</a></li>`;
    return html`<div class="usage-choices">
      <ul class="values" aria-label="Time">${Object.entries(periods).map(([days, label]) => (
    link(address({ days }), label, Number(days) === state.days)))}</ul>
      ${state.environment ? html`<ul class="values" aria-label="Environment">${state.toggle.environments.map((item) => (
    link(address({ environment: item.name }), item.name, item.name === state.environment.name)))}</ul>` : nothing}</div>`;
  }

  function numbers() {
    const data = shown();
    const usage = byTime(data, state.days, state.now);
    const { parts } = usage;
    const sum = parts.reduce((total, { yes, no }) => [total[0] + yes, total[1] + no], [0, 0]);
    const all = sum[0] + sum[1];
    const variants = byVariant(data);
    const share = (part) => (all === 0 ? '' : ` (${(100 * part / all).toFixed(1)} %)`);
    return html`
      <dl class="sums"><div><dt>Evaluations</dt><dd>${number(all)}</dd></div>
        ${groups.map(({ title, pattern }, i) => html`<div><dt><span class="swatch ${pattern}" aria-hidden="true"></span>${title}</dt>
          <dd>${number(sum[i])}<small>${share(sum[i])}</small></dd></div>`)}</dl>
      ${chart}
      ${reading}
      ${changeList(usage)}
      <details><summary>The numbers as a table</summary><div class="scroll">${partTable(parts, sum)}</div></details>
      <section><div class="title"><h3>Applications</h3></div>${applicationTable(byApplication(data))}</section>
      ${variants.length > 0 ? html`<section><div class="title"><h3>Variants</h3></div>${variantTable(variants)}</section>` : nothing}`;
  }

  function partTable(parts, sum) {
    const used = parts.filter(({ yes, no }) => yes + no > 0).reverse();
    return numberTable(`How often the toggle was on and off in the last ${periods[state.days]}`, [state.days > 7 ? 'Day (UTC)' : 'Hour', 'On', 'Off'],
      [...used.map(({ start, yes, no }) => [partLabel(start, state.days), number(yes), number(no)]), ['All', ...sum.map(number)]], 'compact');
  }

  function changeList(usage) {
    const found = changes(usage);
    if (found.length === 0) return nothing;
    return html`<details><summary>${counted(found.length, 'change')} of the toggle in this time, marked by dashed lines</summary>
      <ul class="sentences">${found.map(({ createdAt, summary }) => html`<li><time datetime=${createdAt} title=${exactTime(createdAt)}>${shortDate(createdAt)}, ${
  timeOfDay(createdAt)}</time>: <bdi>${summary}</bdi></li>`)}</ul></details>`;
  }
}

function applicationTable(applications) {
  return numberTable('Applications that used the toggle', ['Application', 'On', 'Off', 'Last used'], applications.map(({ name, yes, no, last }) => (
    [applicationLink(name), number(yes), number(no), ago(last)])));
}

function variantTable(variants) {
  const all = variants.reduce((total, { count }) => total + count, 0);
  return numberTable('How often the toggle had each variant', ['Variant', 'Times', { name: 'Share', kind: 'share' }], variants.map(({ name, count }) => (
    [text(name), number(count), withBar(`${(100 * count / all).toFixed(1)}%`, count / all)])));
}

/** The environment that is shown: the one of the address, otherwise the first one of the type production that was used, or that was used. */
function chosen({ environments }, data, name) {
  const named = environments.find((item) => item.name === name);
  if (named) return named;
  const used = environments.filter((item) => data.some(({ environment }) => environment === item.name));
  const all = used.length > 0 ? used : environments;
  return all.find(isProduction) ?? all[0];
}

/** The newest of the last use that the toggle has and that of the reports, which may be newer. */
function latest(lastSeenAt, data) {
  const reported = byApplication(data).reduce((newest, { last }) => (last > newest ? last : newest), '');
  return reported > (lastSeenAt ?? '') ? reported : lastSeenAt;
}

const ago = (hour) => html`<time datetime=${hour} title=${exactTime(hour)}>${Date.now() - Date.parse(hour) < 3_600_000 ? 'this hour' : relativeTime(new Date(hour))}</time>`;

/** The day of a part of the chart, which is one of UTC if the parts are days. */
const partDay = (start, days) => (days > 7 ? new Date(start).toLocaleDateString(locale, { ...dayAndMonth, timeZone: 'UTC' }) : formatTime(start, dayAndMonth));

/** The label of a part at the axis, which is empty if it has none. */
function tickLabel(start, days) {
  if (days === 1) return timeOfDay(start);
  return days > 7 || formatTime(start, { hour: 'numeric', hourCycle: 'h23' }) === '00' ? partDay(start, days) : '';
}

/** A part of the chart in words. */
const partLabel = (start, days) => (days > 7 ? partDay(start, days) : `${partDay(start, days)}, ${timeOfDay(start)}`);
