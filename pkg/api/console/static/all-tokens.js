// The API tokens and the personal access tokens of all users, and how many of them are a risk.

import { call } from './api.js';

/** Receives `change` after the tokens with risks were counted. */
export const riskChanges = new EventTarget();
let risky = null;
/** The number of API tokens and personal access tokens with risks, or null before they were counted. */
export const riskCount = () => risky;

/** Loads the API tokens and the personal access tokens of all users, and counts those with risks. It needs the permission ADMIN. */
export async function loadAllTokens(signal) {
  const { tokens } = await call('GET', '/api/admin/tokens', undefined, { signal });
  risky = tokens.filter(({ risks }) => risks.length > 0).length;
  riskChanges.dispatchEvent(new Event('change'));
  return tokens.map(withOwner);
}

/** Loads the personal access tokens of a person or a service account. It needs the permission ADMIN. */
export async function loadTokensOf(id, signal) {
  return (await call('GET', `/api/admin/tokens?${new URLSearchParams({ userId: id })}`, undefined, { signal })).tokens.map(withOwner);
}

const withOwner = (token) => ({
  ...token,
  kind: token.kind === 'pat' ? 'pat' : 'api',
  owner: token.userId === null ? null : { id: token.userId, name: token.userName, kind: token.userKind },
});
