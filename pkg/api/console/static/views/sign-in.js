// The sign-in form.

import { call } from '../api.js';
import { FieldError, field, form } from '../dialog.js';
import { signIn } from '../session.js';
import { element, html, nothing, render } from '../template.js';

/** The issuer's data from the page: issuer, clientId, authorizationEndpoint, tokenEndpoint, endSessionEndpoint, or issuerError. */
export const config = JSON.parse(document.getElementById('config').textContent);

export const issuerHost = () => new URL(config.issuer).host;

/** Reports whether a credential is an ID token, which comes from the issuer. */
export const isIdToken = (token) => /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token ?? '');

/** Reports whether a credential is an API token, which identifies no user. */
export const isApiToken = (token) => (token ?? '').startsWith('*:');

/**
 * @param {HTMLElement} content
 * @param {{message?: string, rejected?: boolean, issued?: boolean, token?: string}} reason why the form is shown; `issued` if the issuer
 *   signed the user in, with `token`
 */
export function renderSignIn(content, { message, rejected, issued, token }) {
  content.className = 'sign-in';
  render(html`${message === undefined ? nothing : html`<p class=${rejected === false ? 'notice' : 'notice error'} role="alert">${message}</p>`}
    ${issued && rejected ? identity(token) : nothing}
    ${issued ? endSession() : nothing}
    ${config.issuer ? issuerForm() : nothing}
    ${tokenForm()}`, content);
}

function issuerForm() {
  if (config.issuerError) {
    return html`<p class="notice">Signing in with ${issuerHost()} is not possible at the moment: it cannot be reached.</p>`;
  }
  return html`${form({
    submit: `Sign in with ${issuerHost()}`,
    busy: 'Opening the sign-in page…',
    send: async () => (await import('../oidc.js')).begin(config),
  })}<p class="or">or</p>`;
}

function tokenForm() {
  const token = element(html`<input name="token" type="password" autocomplete="off" spellcheck="false" required>`);
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
  return html`<p>Give the administrator this:</p>
    <dl class="identity">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd><code><bdi>${value}</bdi></code></dd></div>`)}</dl>`;
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
  if (!config.endSessionEndpoint) return nothing;
  const url = new URL(config.endSessionEndpoint);
  url.searchParams.set('client_id', config.clientId);
  return html`<p>You may still be signed in at ${issuerHost()}. <a href=${url.href}>Sign out of ${issuerHost()}</a>.</p>`;
}
