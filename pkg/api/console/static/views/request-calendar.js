// A month of what is scheduled and frozen.

import { requestAddress, requestTitle, searchRequests } from '../change-request.js';
import { text } from '../dom.js';
import { environmentName, loadEnvironments, namedEnvironment } from '../environment.js';
import { loadProjects } from '../project.js';
import { loadProtections } from '../protection.js';
import { html, nothing } from '../template.js';
import { exactTime, formatTime, isoDay, shortTime, timeOfDay } from '../time.js';

const day = 86_400_000;
const most = 100; // scheduled requests
const atOnce = 6; // requests of protections
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/**
 * @param {Object} context of the page
 * @param {string} project '' for all
 * @param {() => void} draw
 */
export function requestCalendar({ signal }, project, draw) {
  const state = { month: isoDay(Date.now()).slice(0, 7), scheduled: [], freezes: [], environments: [], isLoaded: false };
  return { load, template };

  async function load() {
    const [{ requests }, environments, projects] = await Promise.all([
      searchRequests({ project, state: 'Scheduled', limit: most }, signal), loadEnvironments(signal), project ? [{ id: project }] : loadProjects(signal)]);
    const freezes = environments.filter(({ freeze }) => freeze).map(({ name, freeze }) => ({ ...freeze, environment: name, project: null }));
    const waiting = [...projects];
    await Promise.all(Array.from({ length: atOnce }, async () => {
      while (waiting.length > 0) {
        const { id } = waiting.shift();
        for (const { environment, freezes: all = [] } of await loadProtections(id, signal)) {
          freezes.push(...all.filter(({ allProjects }) => !allProjects).map((freeze) => ({ ...freeze, environment, project: id })));
        }
      }
    }));
    Object.assign(state, { scheduled: requests.filter(({ schedule }) => schedule), freezes, environments, isLoaded: true });
  }

  /** The days of the month, in weeks from Monday to Sunday, as the noon of each in UTC. */
  function days() {
    const first = Date.parse(`${state.month}-01T12:00:00Z`);
    const start = first - ((new Date(first).getUTCDay() + 6) % 7) * day;
    const weeks = Math.ceil((Date.parse(`${monthAfter(state.month, 1)}-01T12:00:00Z`) - start) / (7 * day));
    return Array.from({ length: 7 * weeks }, (_, i) => new Date(start + i * day).toISOString().slice(0, 10));
  }

  function template() {
    if (!state.isLoaded) return nothing;
    const name = monthName(state.month, 'long');
    return html`<div class="title"><h2 aria-live="polite">${name}</h2><div class="buttons">
        <button type="button" @click=${() => go(monthAfter(state.month, -1))}>‹ ${monthName(monthAfter(state.month, -1), 'short')}</button>
        <button type="button" @click=${() => go(isoDay(Date.now()).slice(0, 7))}>This month</button>
        <button type="button" @click=${() => go(monthAfter(state.month, 1))}>${monthName(monthAfter(state.month, 1), 'short')} ›</button></div></div>
      <div class="weekdays" aria-hidden="true">${weekdays.map((weekday) => html`<span>${weekday.slice(0, 3)}</span>`)}</div>
      <ol class="calendar" aria-label=${name}>${days().map(dayItem)}</ol>
      ${entries(`${state.month}-01`, `${monthAfter(state.month, 1)}-00`) === 0 ? html`<p class="empty">Nothing is scheduled or frozen in this month.</p>` : nothing}`;
  }

  /** How many days of a range have an entry. */
  function entries(from, until) {
    return days().filter((date) => date >= from && date < until && (scheduledOn(date).length > 0 || frozenOn(date).length > 0)).length;
  }

  function scheduledOn(date) {
    return state.scheduled.filter(({ schedule }) => isoDay(schedule.scheduledAt) === date)
    .sort((a, b) => (a.schedule.scheduledAt < b.schedule.scheduledAt ? -1 : 1));
  }

  function frozenOn(date) {
    return state.freezes.filter(({ from, until }) => isoDay(from) <= date && date <= isoDay(Date.parse(until) - 1));
  }

  function dayItem(date) {
    const [scheduled, frozen] = [scheduledOn(date), frozenOn(date)];
    const isOther = !date.startsWith(state.month);
    const isEmpty = scheduled.length + frozen.length === 0;
    const isContinued = !isEmpty && scheduled.length === 0 && frozen.every(({ from }) => !begins(from, date));
    return html`<li class="${isOther ? 'other' : ''} ${isEmpty ? 'no-entries' : ''} ${isContinued ? 'continued' : ''}" aria-current=${date === isoDay(Date.now()) ? 'date' : nothing}>
      <time datetime=${date}><span class="weekday">${weekdays[(new Date(`${date}T12:00:00Z`).getUTCDay() + 6) % 7]}, </span>${Number(date.slice(8))}<span
        class="visually-hidden"> ${formatTime(`${date}T12:00:00Z`, { month: 'long' })}</span></time>
      ${frozen.map((freeze) => html`<p class="frozen" title="${exactTime(freeze.from)} – ${exactTime(freeze.until)}"><span aria-hidden="true">❄ </span>${environmentName(namedEnvironment(state.environments, freeze.environment))}
        ${begins(freeze.from, date) ? html`frozen${freeze.project ? html` in ${text(freeze.project)}` : nothing} until ${shortTime(freeze.until)}: ${text(freeze.reason)}`
    : html`<span class="visually-hidden">frozen</span>`}</p>`)}
      ${scheduled.map((request) => html`<p class=${request.schedule.status === 'pending' ? 'scheduled' : 'scheduled warn'}><a href=${requestAddress(request)}>${
        timeOfDay(request.schedule.scheduledAt)} ${text(requestTitle(request))}</a> <small><bdi>${request.environment}</bdi>${project ? nothing : html`, <bdi>${request.project}</bdi>`}</small></p>`)}
    </li>`;
  }

  /** Reports whether a day is the first one of the month on which a freeze is. */
  function begins(from, date) {
    return isoDay(from) === date || date === `${state.month}-01`;
  }

  function go(month) {
    state.month = month;
    draw();
  }
}

/** A month in words. */
const monthName = (month, style) => formatTime(`${month}-15T12:00:00Z`, { month: style, year: 'numeric' });

/** The month some months after one, such as "2026-12". */
function monthAfter(month, count) {
  const date = new Date(`${month}-15T12:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + count);
  return date.toISOString().slice(0, 7);
}
