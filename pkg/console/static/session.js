const key = 'credential';

/** What the page says about the OpenID Connect issuer; empty without one. */
export const config = JSON.parse(document.getElementById('config').textContent);

/** The credential of the session, or null. */
export function credential() {
  return sessionStorage.getItem(key);
}

/** Starts a session with the credential of the fragment #token=…, and removes it from the address and the history. */
export function takeFragment() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) {
    history.replaceState(null, '', location.pathname);
    start(token);
  }
}

export function start(token) {
  sessionStorage.setItem(key, token);
}

/** Ends the session. The event signed-out has the reason, a sentence or empty. */
export function signOut(reason = '') {
  sessionStorage.removeItem(key);
  dispatchEvent(new CustomEvent('signed-out', { detail: reason }));
}
