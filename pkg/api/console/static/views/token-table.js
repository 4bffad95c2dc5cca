// The table of tokens of one or several kinds.

import { kinds, projectNames } from '../client-token.js';
import { copyText } from '../clipboard.js';
import { counted, logAddress } from '../dom.js';
import { environmentName } from '../environment.js';
import { expiry, isExpired } from '../expiry.js';
import { personAddress } from '../person.js';
import { marked } from '../search.js';
import { denseTable } from '../table.js';
import { html, nothing } from '../template.js';
import { daysBetween, exactTime, relativeDays, relativeTime } from '../time.js';
import { timeOfUse } from '../toggle.js';
import { risk, tokenOrders } from '../token.js';
import { isOfSession } from './token-dialogs.js';

const shownProjects = 2;
const kindNames = { api: 'API token', pat: 'Personal access token' };

/** How many days are said exactly. */
const exactDays = 60;

/** A date-time in one line, with the exact one in its title. */
export const moment = (value, words = Math.abs(daysBetween(Date.now(), value)) < exactDays ? relativeDays(value) : relativeTime(new Date(value))) => html`<time datetime=${value} title=${exactTime(value)}>${words}</time>`;

/** The names of the columns of `tokenTable`, which are those of `tokenOrders`. */
const cells = {
  name: ({ query, isMixed, environments }) => (token) => html`<span class="one-line" title=${token.name}>${marked(token.name, query)}</span>${
    isMixed ? html`<small class="line">${kindOf(token)}${token.kind === 'client' ? html`<span class="environment-too">, ${environmentOf(token, environments)}</span>` : nothing}${
      isOfSession(token) ? ', signed in with this token' : nothing}</small>`
      : isOfSession(token) ? html`<small class="line">Signed in with this token</small>` : nothing}`,
  owner: () => owner,
  environment: ({ environments }) => (token) => (token.kind === 'client' ? environment(token, environments) : html`<span class="detail everything">All</span>`),
  createdAt: () => ({ createdAt }) => moment(createdAt),
  seenAt: () => ({ seenAt }) => (seenAt === null ? html`<span class="detail">Never</span>` : moment(seenAt, timeOfUse(seenAt))),
  expiresAt: () => expires,
  risk: () => (token) => {
    const found = risk(token);
    return found ? html`<span class="badge ${found.kind}">${found.text}</span>` : html`<span class="visually-hidden">None</span>`;
  },
};

function owner({ kind, owner: of, userId, role }) {
  if (kind === 'client') return html`<span class="detail">Applications</span>`;
  if (kind === 'api') return html`<span class="one-line">The service</span><small class="line">Admin</small>`;
  if (of.name === null) return html`<span class="detail">Deleted user ${userId}</span>`;
  return of.kind === 'service-account'
    ? html`<a class="one-line" href=${accountAddress(of)} title=${of.name}><bdi>${of.name}</bdi></a><small class="line">Service account, ${role}</small>`
    : html`<a class="one-line" href=${personAddress(of)} title=${of.name}><bdi>${of.name}</bdi></a><small class="line">Person, ${role}</small>`;
}

const kindOf = ({ kind, type }) => (kind === 'client' ? kinds[type].name : kindNames[kind]);

const environmentOf = (token, environments) => environmentName(environments.find(({ name }) => name === token.environment) ?? { name: token.environment });

function environment(token, environments) {
  const names = projectNames(token);
  return html`${environmentOf(token, environments)}
    <small class="line" title=${names.join(', ')}>${names.length > shownProjects ? counted(names.length, 'project') : names.map((name, i) => html`${
  i > 0 ? ', ' : nothing}<bdi>${name}</bdi>`)}</small>${
  token.emptyProjects?.length > 0 ? html`<small class="line warn" title=${token.emptyProjects.join(', ')}>No toggles in <bdi>${token.emptyProjects[0]}</bdi>${
    token.emptyProjects.length > 1 ? ' and others' : nothing}</small>` : nothing}`;
}

function expires(token) {
  if (token.expiresAt === null) return html`<span class="detail">Never</span>`;
  const mark = token.validUntil && !isExpired(token) ? { kind: 'quiet', label: 'Old secret' } : expiry(token);
  return html`${moment(token.expiresAt)}${mark ? html`<small class="line ${mark.kind}">${mark.label}</small>` : nothing}`;
}

/** The address of the page of a service account. */
export const accountAddress = ({ id }) => `#/service-accounts/${id}`;

/**
 * The template of the table.
 * @param {Object} options
 * @param {string} options.caption
 * @param {string[]} options.columns properties of `tokenOrders`
 * @param {Object[]} options.tokens
 * @param {Object[]} [options.environments]
 * @param {string} [options.query] of the search
 * @param {string} options.order see `denseTable`
 * @param {(order: string) => void} options.sort
 * @param {(token: Object) => Array} options.actions see `menu`
 */
export function tokenTable({ caption, columns, tokens, environments = [], query, order, sort, actions }) {
  const isMixed = columns.includes('environment');
  return denseTable({
    caption,
    kind: 'tokens',
    columns: columns.map((by) => ({
      name: tokenOrders[by].label, kind: `token-${by}`, compare: tokenOrders[by].compare, cell: cells[by]({ environments, query, isMixed }),
    })),
    items: tokens,
    key: tokenKey,
    order,
    sort,
    actions: (token) => ({ name: token.name, id: tokenKey(token), items: actions(token) }),
  });
}

const tokenKey = ({ kind, id }) => `${kind}-${id}`;

/** What can be done with each token: links to the event log, and what copies. `subject` is that of its events. */
export const commonActions = (token, { may, copy }) => [
  ...may('ADMIN') ? [
    ...token.kind === 'client' ? [] : [{ label: 'Activity', href: logAddress({ token: token.id }) }],
    { label: 'History', href: logAddress({ subject: `${{ client: 'client-token', api: 'api-token', pat: 'pat' }[token.kind]}:${token.id}` }) },
  ] : [],
  { label: 'Copy ID', action: () => copy(token.id, 'ID copied.') },
];

/** Returns a function that copies a text and announces it. */
export const copier = (announce) => (text, done) => copyText(text, done, announce);

/** When a token of a person was last used, or null. Sessions of the issuer are not counted. */
export const lastUse = ({ tokens }) => (tokens ?? []).map(({ seenAt }) => seenAt).filter(Boolean).sort().at(-1) ?? null;

/** How many tokens a person has, and when one was last used. */
export function tokenUse(person) {
  if (!person.tokens) return person.tokens === null ? 'Unknown' : '…';
  const at = lastUse(person);
  if (person.tokens.length === 0) return html`<span class="detail">None</span>`;
  return html`<span>${counted(person.tokens.length, 'token')}, ${at === null ? 'never used' : html`used ${moment(at, timeOfUse(at))}`}</span>`;
}
