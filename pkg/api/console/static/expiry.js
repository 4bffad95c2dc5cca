// The expiry of tokens: what is said about it, the filters of lists, and the controls that choose it.

import { FieldError, field } from './dialog.js';
import { element, html, nothing } from './template.js';
import { isoDay, isUTC, shortDate } from './time.js';

const day = 86_400_000;
const soon = 14 * day;
const long = 90 * day;
const presets = [[7, '7 days'], [30, '30 days'], [90, '90 days'], [365, '1 year']];

export const isExpired = ({ expiresAt }, now = Date.now()) => expiresAt !== null && Date.parse(expiresAt) <= now;
const isExpiringSoon = ({ expiresAt }, now) => expiresAt !== null && Date.parse(expiresAt) > now && Date.parse(expiresAt) - now <= soon;

/** The choices of the filter of a list of tokens by use and expiry. */
export const tokenFilters = [
  { value: '', label: 'Used or not' },
  { value: 'never', label: 'Never used', test: ({ seenAt }) => seenAt === null },
  { value: 'unused', label: 'Unused for 90 days', test: ({ seenAt, createdAt }) => Date.now() - Date.parse(seenAt ?? createdAt) > long },
  { value: 'soon', label: 'Expires within 14 days', test: (token) => isExpiringSoon(token, Date.now()) },
  { value: 'expired', label: 'Expired', test: (token) => isExpired(token, Date.now()) },
];

/** Returns what is to be said about the expiry of a token: a class and a text, or null. */
export function expiry(token, now = Date.now()) {
  if (isExpired(token, now)) return { kind: 'bad', label: 'Expired' };
  if (isExpiringSoon(token, now)) return { kind: 'warn', label: 'Expires soon' };
  return null;
}

/**
 * The controls that choose an expiry, both of which are fields of a form.
 * @param {{never?: boolean, chosen?: number|string}} [options] `never` offers a token that does not expire; `chosen` is the preset in days,
 *   or an empty text for that
 * @returns {{controls: {choice: HTMLSelectElement, until: HTMLInputElement}, fields: unknown[], value: () => string|null}} `value` returns
 *   the expiry as a date-time of the API, and throws a FieldError
 */
export function expiryChoice({ never = false, chosen = 30 } = {}) {
  const inDays = (count) => new Date(Date.now() + count * day);
  const choice = element(html`<select @change=${choose}>
    ${never ? html`<option value="never" ?selected=${chosen === 'never'}>Never</option>` : nothing}
    ${presets.map(([count, label]) => html`<option value=${count} ?selected=${count === chosen}>${label} (${shortDate(inDays(count))})</option>`)}
    <option value="">Another date…</option></select>`);
  const until = element(html`<input name="expiresAt" type="date" min=${isoDay(inDays(1))} max="9999-12-30" required>`);
  const untilField = element(field('Expiry date', until, 'The token expires at the end of this day.'));
  const choiceField = field(never ? 'Expires' : 'Expires in', choice);
  choose();
  return { controls: { choice, until }, fields: [choiceField, untilField], value };

  function choose() {
    untilField.hidden = choice.value !== '';
    until.disabled = untilField.hidden;
    // An error of the API about the expiry belongs to the visible control.
    choice.name = untilField.hidden ? 'expiresAt' : '';
    if (!untilField.hidden && !until.value) until.value = isoDay(inDays(30));
  }

  function value() {
    if (choice.value === 'never') return null;
    if (choice.value !== '') return inDays(Number(choice.value)).toISOString();
    if (!until.value) throw new FieldError('expiresAt', 'Enter a date.');
    return new Date(`${until.value}T23:59:59.999${isUTC() ? 'Z' : ''}`).toISOString();
  }
}
