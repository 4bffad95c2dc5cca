// Dates and times, in the time zone that the user has chosen.

import { counted } from './dom.js';
import { html } from './template.js';

/** The pages are in English: so are their dates, in the user's kind of English if there is one. */
export const locale = navigator.languages.find((language) => /^en\b/.test(language)) ?? 'en-GB';
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
/** @type {Array<{unit: Intl.RelativeTimeFormatUnit, size: number}>} in seconds */
const units = [
  { unit: 'year', size: 31_536_000 }, { unit: 'month', size: 2_592_000 }, { unit: 'day', size: 86_400 },
  { unit: 'hour', size: 3600 }, { unit: 'minute', size: 60 }, { unit: 'second', size: 1 },
];

/** The time zone of the browser. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const zoneKey = 'time-zone';
let timeZone = window.localStorage.getItem(zoneKey) === 'UTC' ? 'UTC' : ownZone;

/** Reports whether pages show times in UTC, and not in the time zone of the browser. */
export const isUTC = () => timeZone === 'UTC';

/** Chooses UTC or the time zone of the browser, for all pages. The browser keeps the choice. */
export function showUTC(on) {
  timeZone = on ? 'UTC' : ownZone;
  if (on) window.localStorage.setItem(zoneKey, 'UTC');
  else window.localStorage.removeItem(zoneKey);
}

/** A date-time in the time zone of the pages. `options` are those of `Intl.DateTimeFormat`. */
export const formatTime = (value, options) => new Date(value).toLocaleString(locale, { ...options, timeZone });

/** The number of a calendar day in the time zone of the pages: that of the day after it is greater by 1. */
function dayNumber(value) {
  return Date.parse(`${isoDay(value)}T00:00:00Z`) / 86_400_000;
}

/** A calendar day in the time zone of the pages, such as "2026-11-22". */
export const isoDay = (value) => new Date(value).toLocaleDateString('en-CA', { timeZone });

/** A date-time as the value of an input of the type datetime-local, in the time zone of the pages. */
export function inputTime(value) {
  const date = new Date(value);
  return new Date(date.getTime() - (isUTC() ? 0 : date.getTimezoneOffset() * 60_000)).toISOString().slice(0, 16);
}

/** The date-time of the value of an input of the type datetime-local. */
export const timeOfInput = (value) => new Date(isUTC() ? `${value}Z` : value).toISOString();

/** Returns the number of calendar days from one date-time to another. */
export const daysBetween = (from, to) => dayNumber(to) - dayNumber(from);

/**
 * Returns a time such as "in 5 days", in English.
 * @param {Date|string|number} value
 * @param {number} [now]
 */
export function relativeTime(value, now = Date.now()) {
  const seconds = (new Date(value).getTime() - now) / 1000;
  const { unit, size } = units.find((one) => Math.abs(seconds) >= one.size) ?? units.at(-1);
  return relative.format(Math.round(seconds / size), unit);
}

/** Returns a date-time of the API such as "in 37 days", by the calendar. */
export const relativeDays = (value, now = new Date()) => relative.format(daysBetween(now, value), 'day');

/** How long ago a date-time of the API is, in days, and its date. */
export function age(value, now = Date.now()) {
  const days = Math.max(0, Math.floor((now - Date.parse(value)) / 86_400_000));
  return html`<time datetime=${value} title=${exactTime(value)}><span>${days === 0 ? 'Today' : counted(days, 'day')}</span><small>${
    shortDate(value)}</small></time>`;
}

/** A date such as "2027-01-31" in words, whatever the time zone of the page is. */
export const shortDay = (value) => unbroken(new Date(value).toLocaleDateString(locale, { dateStyle: 'medium', timeZone: 'UTC' }));

/** The date of a date-time of the API. */
export const shortDate = (value) => unbroken(formatTime(value, { dateStyle: 'medium' }));

/** The time of day of a date-time of the API. */
export const timeOfDay = (value) => unbroken(formatTime(value, { timeStyle: 'short' }));

/** A date-time of the API in one line, such as "Today, 14:02" or "24 Nov, 14:02". Of another year, it is only the date. */
export function shortTime(value, now = new Date()) {
  const days = daysBetween(value, now);
  if (days === 0) return `Today, ${timeOfDay(value)}`;
  if (days === 1) return `Yesterday, ${timeOfDay(value)}`;
  if (formatTime(value, { year: 'numeric' }) !== formatTime(now, { year: 'numeric' })) return shortDate(value);
  return `${unbroken(formatTime(value, { day: 'numeric', month: 'short' }))}, ${timeOfDay(value)}`;
}

/** A date-time of the API in the time zone of the pages, and in UTC: for the title of a shorter one. */
export function exactTime(value) {
  const utc = `${new Date(value).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return isUTC() ? utc : `${shortDate(value)}, ${timeOfDay(value)} (${utc})`;
}

/** A text that stays in one line. */
const unbroken = (value) => value.replaceAll(' ', '\u00a0');

/** A date-time of the API as two lines: relative and exact. */
export const time = (value) => html`<time datetime=${value} title=${exactTime(value)}><span>${relativeTime(new Date(value))}</span><small>${
  shortDate(value)}, ${timeOfDay(value)}</small></time>`;
