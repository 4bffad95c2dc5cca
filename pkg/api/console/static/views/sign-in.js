// The sign-in form.

import { call } from '../api.js';
import { FieldError, append, field, form, h } from '../dom.js';
import { signIn } from '../session.js';

/** The issuer's data from the page: issuer, clientId, authorizationEndpoint, tokenEndpoint, endSessionEndpoint, or issuerError. */
export const config = JSON.parse(document.getElementById('config').textContent);

export const issuerHost = () => new URL(config.issuer).host;

/** Reports whether a credential is an ID token, which comes from the issuer. */
export const isIdToken = (token) => /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token ?? '');

/** Reports whether a credential is an API token, which identifies no user. */
export const isApiToken = (token) => /^\*:/.test(token ?? '');

/**
 * @param {HTMLElement} content
 * @param {{message?: string, rejected?: boolean, issued?: boolean, token?: string}} reason why the form is shown; `issued` if the issuer
 *   signed the user in, with `token`
 */
export function renderSignIn(content, { message, rejected, issued, token }) {
  content.className = 'sign-in';
  const info = message === undefined ? null : h('p', { class: rejected === false ? 'notice' : 'notice error', role: 'alert' }, message);
  append(content, info, issued && rejected && identity(token), issued && endSession(), config.issuer && issuerForm(), tokenForm());
}

function issuerForm() {
  if (config.issuerError) {
    return h('p', { class: 'notice' }, `Signing in with ${issuerHost()} is not possible at the moment: it cannot be reached.`);
  }
  return [
    form({
      submit: `Sign in with ${issuerHost()}`,
      busy: 'Opening the sign-in page…',
      send: async () => (await import('../oidc.js')).begin(config),
    }),
    h('p', { class: 'or' }, 'or'),
  ];
}

function tokenForm() {
  const token = h('input', { name: 'token', type: 'password', autocomplete: 'off', spellcheck: 'false', required: true });
  return form({
    submit: 'Sign in',
    busy: 'Signing in…',
    send: async () => {
      const value = token.value.trim().replace(/^Bearer\s+/i, '');
      if (value === '') throw new FieldError('token', 'Enter a token.');
      // Other characters cannot be part of a header.
      if (!/^[\x21-\x7e]+$/.test(value)) throw new FieldError('token', 'A token has only letters, digits and the characters : . * _ -');
      try {
        await call('GET', '/api/admin/user', undefined, { token: value });
      } catch (error) {
        if (error.status === 401) {
          throw new FieldError('token', 'The API does not accept this token. It is not complete, or it has expired, or it was deleted.');
        }
        if (error.status !== 403 || !isApiToken(value)) throw error; // 403: the operation needs a user, and an API token has none
      }
      signIn(value);
    },
  },
  field('Personal access token or API token', token, 'It starts with user:v2_ or *:*. The token is kept until you sign out or close the last tab of the console.'));
}

/** Shows who the issuer says the person is, for the administrator who can let them in. */
function identity(token) {
  const { email, sub, iss } = claims(token);
  const facts = [['E-mail address', email], ['Subject (sub)', sub], ['Issuer', iss]].filter(([, value]) => typeof value === 'string');
  return [
    h('p', null, 'Give the administrator this:'),
    h('dl', { class: 'identity' }, facts.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, h('code', null, h('bdi', null, value)))))),
  ];
}

/** Returns the claims of an ID token, for display only. */
function claims(token) {
  try {
    const bytes = Uint8Array.from(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    return {};
  }
}

/** Offers to end the session at the issuer too. Otherwise the next sign-in there may need no password. */
function endSession() {
  if (!config.endSessionEndpoint) return null;
  const url = new URL(config.endSessionEndpoint);
  url.searchParams.set('client_id', config.clientId);
  return h('p', null, `You may still be signed in at ${issuerHost()}. `, h('a', { href: url.href }, `Sign out of ${issuerHost()}`), '.');
}
