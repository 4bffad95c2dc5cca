// Sign-in with OpenID Connect: authorization code flow with PKCE. The ID token is the credential.

import { signIn } from './session.js';

import * as oauth from './vendor/oauth4webapi/index.js';

const storage = window.sessionStorage;
const key = 'toggleadmin.sign-in';

/** The signature algorithms that the API accepts. */
const algorithms = ['RS256', 'ES256', 'PS256', 'EdDSA'];

/** The page without query and fragment. It is registered at the issuer. */
const redirectURI = () => window.location.origin + window.location.pathname;

/** Errors of an issuer that does not renew a session without asking the user. */
const needsUser = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required'];

/**
 * Sends the browser to the issuer. The fragment names the page to come back to.
 * @param {boolean} [silent] the issuer asks the user nothing: it returns an error if there is no session
 */
export async function begin(config, silent) {
  const attempt = {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
  };
  const url = new URL(config.authorizationEndpoint);
  const parameters = {
    client_id: config.clientId,
    redirect_uri: redirectURI(),
    response_type: 'code',
    scope: 'openid email profile',
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: 'S256',
    ...silent && { prompt: 'none' },
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const remember = () => storage.setItem(key, JSON.stringify({ ...attempt, page: window.location.hash }));
  window.addEventListener('hashchange', remember); // a link is clicked before the browser has left the page
  remember();
  window.location.assign(url);
}

/** Completes the sign-in with the issuer's response and returns to the page where it began. The error is a sentence for the user. */
export async function complete(config, response) {
  const attempt = JSON.parse(storage.getItem(key));
  storage.removeItem(key);
  // Only a response with the state of this tab may show the issuer's text: anyone can write a link with an error in it.
  if (!attempt || response.get('state') !== attempt.state) {
    throw new Error('This sign-in was not started in this tab, or it was completed before. Sign in again.');
  }
  if (attempt.page) window.history.replaceState(null, '', attempt.page);
  signIn(await idToken(config, attempt, response));
}

async function idToken(config, attempt, response) {
  const issuer = {
    issuer: config.issuer,
    token_endpoint: config.tokenEndpoint,
    id_token_signing_alg_values_supported: algorithms,
  };
  const client = { client_id: config.clientId, [oauth.clockTolerance]: 60 };
  const options = { [oauth.allowInsecureRequests]: config.issuer.startsWith('http:') }; // only on this machine: the API refuses others
  try {
    const parameters = oauth.validateAuthResponse(issuer, client, response, attempt.state);
    const answer = await oauth.authorizationCodeGrantRequest(
      issuer, client, oauth.None(), parameters, redirectURI(), attempt.verifier, options);
    const tokens = await oauth.processAuthorizationCodeResponse(
      issuer, client, answer, { expectedNonce: attempt.nonce, requireIdToken: true });
    return tokens.id_token;
  } catch (error) {
    throw new Error(explain(error, new URL(config.issuer).host), { cause: error });
  }
}

function explain(error, host) {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    if (needsUser.includes(error.error)) return 'Your session has ended. Sign in again.';
    if (error.error === 'access_denied') return `${host} did not sign you in: access was denied or canceled.`;
    return `${host} did not sign you in: ${error.error_description ?? error.error}`;
  }
  if (error instanceof TypeError) return `${host} cannot be reached, or it does not accept requests from this page.`;
  return `The response of ${host} is not valid: ${error.message}.`;
}
