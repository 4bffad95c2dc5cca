// Tokens of all kinds in one form: API tokens of the service, personal access tokens, and client tokens.
//
// A token has: kind 'api', 'pat' or 'client'; id, name, createdAt, seenAt, expiresAt; owner, null or {id, name, kind: 'user' or
// 'service-account'}; role, null or that of the owner; and risks, the names of `riskNames`. A client token has its own properties, too.

import { endOf, loadTokens } from './client-token.js';
import { isExpired } from './expiry.js';
import { html } from './template.js';

/** The risks in words, from the highest. The API computes all but those of client tokens. */
const riskNames = {
  'admin-never-expires': 'never expires',
  'admin-never-used': 'never used',
  'admin-unused': 'not used for 30 days',
  'long-lived': 'expires in > 1 year',
};
const order = Object.keys(riskNames).reverse();

/** Loads the client tokens, or those at the path of a project. `environments` say which ones are of the type production. */
export async function loadClientTokens(environments, signal, path = undefined) {
  const production = environments.filter(({ type }) => type === 'production').map(({ name }) => name);
  return (await loadTokens(signal, path)).map((token) => ({
    ...token,
    kind: 'client',
    type: token.kind,
    id: token.id.slice(-22),
    name: token.tokenName,
    expiresAt: endOf(token),
    owner: null,
    role: null,
    risks: [],
    isWide: token.projects.includes('*') && production.includes(token.environment),
  }));
}

/** What is to be said about a token that could be dangerous: {kind, text}, or null. */
export function risk(token) {
  if (isExpired(token)) return { kind: 'quiet', text: 'expired' };
  if (token.risks.length > 0) {
    const isAdmin = token.risks.some((name) => name.startsWith('admin-'));
    return { kind: isAdmin ? 'bad' : 'warn', text: [...isAdmin ? ['Admin'] : [], ...token.risks.map((name) => riskNames[name] ?? name)].join(' · ') };
  }
  if (token.isWide) return { kind: 'quiet', text: html`all projects of <span>${token.environment}</span>` };
  return token.imported ? { kind: 'quiet', text: 'imported' } : null;
}

const level = (token) => (isExpired(token) ? 0.25 : token.risks.reduce((sum, name) => sum + 2 ** (order.indexOf(name) + 1), token.isWide ? 0.5 : 0));
const never = Number.MAX_SAFE_INTEGER;
const at = (value, otherwise) => (value ? Date.parse(value) : otherwise);
const text = (value) => (a, b) => value(a).localeCompare(value(b), 'en');

/** The orders of a list of tokens. Those that were never used are the ones used first, and those that never expire expire last. */
export const tokenOrders = {
  name: { label: 'Name', compare: text(({ name }) => name) },
  owner: { label: 'Owner', compare: text(({ owner }) => owner?.name ?? '') },
  environment: { label: 'Environment', compare: text(({ environment = '' }) => environment) },
  createdAt: { label: 'Created', compare: (a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt) },
  seenAt: { label: 'Last used', compare: (a, b) => at(a.seenAt, 0) - at(b.seenAt, 0) },
  expiresAt: { label: 'Expires', compare: (a, b) => at(a.expiresAt, never) - at(b.expiresAt, never) },
  risk: { label: 'Risk', compare: (a, b) => level(a) - level(b) },
};

/** What the search in a list of tokens looks at. */
export const tokenTexts = ({ name, owner, projects = [] }) => [name, owner?.name, owner?.username, ...projects];
