// The credential of this tab, and what the URL carries into the page. This module imports nothing and is the first to run, so that the
// address bar is clean before anything else happens.

const storage = window.sessionStorage; // of this tab only, and gone when the tab closes
const key = 'toggleadmin.token';

/** Receives `signed-in`, and `signed-out` with the detail `{token, rejected}`. */
export const events = new EventTarget();

/** The issuer's response, if the browser came back from there. */
export const authorizationResponse = takeResponse();

takeToken();
window.addEventListener('hashchange', () => {
  if (takeToken()) events.dispatchEvent(new Event('signed-in'));
});

/** Returns the credential, or null. */
export function credential() {
  return storage.getItem(key);
}

export function signIn(token) {
  storage.setItem(key, token);
  events.dispatchEvent(new Event('signed-in'));
}

/** Removes the credential. `rejected` says that the API does not accept it. */
export function signOut(rejected = false) {
  const token = credential();
  storage.removeItem(key);
  if (token !== null) events.dispatchEvent(new CustomEvent('signed-out', { detail: { token, rejected } }));
}

/**
 * Moves the token of `#token=…`, which only the service on this machine prints, from the address bar and the history to the storage. On any
 * other host the token is not used: a link could sign somebody in as the user of the one who wrote it.
 */
function takeToken() {
  const [, token] = /^#token=(.+)$/.exec(window.location.hash) ?? [];
  if (!token) return false;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  if (!['127.0.0.1', '[::1]', 'localhost'].includes(window.location.hostname)) return false;
  storage.setItem(key, token);
  return true;
}

/** Moves the parameters of the issuer's response out of the address bar and the history. */
function takeResponse() {
  const parameters = new URLSearchParams(window.location.search);
  if (!['code', 'state', 'error'].some((name) => parameters.has(name))) return null;
  window.history.replaceState(null, '', window.location.pathname + window.location.hash);
  return parameters;
}
