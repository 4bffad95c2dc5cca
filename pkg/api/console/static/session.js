// The credential, and what the URL carries into the page. This module imports nothing and is the first to run, so that the
// address bar is clean before anything else happens.

const storage = window.sessionStorage; // of this tab only, and gone when the tab closes
const key = 'toggleadmin.token';

/** The other tabs of the same origin that show this console. One of another stage has another path. */
const tabs = new BroadcastChannel(`toggleadmin ${new URL('../..', import.meta.url).pathname}`);
/** How long a new tab waits for the credential of another one, in milliseconds. */
const patience = 200;

/** What was entered and not saved. It survives a session that has ended, but not "Sign out". */
export const draftStorage = {
  get: () => storage.getItem('toggleadmin.draft'),
  set: (value) => storage.setItem('toggleadmin.draft', value),
  remove: () => storage.removeItem('toggleadmin.draft'),
};

/** Receives `signed-in`, `signed-out` with the detail `{token, rejected}`, and `code` if `printedCode` has one. */
export const events = new EventTarget();

/** The issuer's response, if the browser came back from there. */
export const authorizationResponse = takeResponse();

let code = takeCode();
window.addEventListener('hashchange', () => {
  code = takeCode() ?? code;
  if (code) events.dispatchEvent(new Event('code'));
});

/** Returns the code of the URL that the service on this machine prints, once, or null. */
export function printedCode() {
  const taken = code;
  code = null;
  return taken;
}

/** Returns the credential, or null. */
export function credential() {
  return storage.getItem(key);
}

export function signIn(token) {
  storage.setItem(key, token);
  events.dispatchEvent(new Event('signed-in'));
}

/** Takes the credential of another tab, if one is signed in. Thus a session ends with its last tab. */
export async function joinSession() {
  if (credential() !== null) return;
  const id = window.crypto.getRandomValues(new Uint32Array(4)).join();
  const token = await new Promise((resolve) => {
    const listen = ({ data }) => data?.to === id && done(data.token);
    const done = (answer) => {
      tabs.removeEventListener('message', listen);
      resolve(answer);
    };
    tabs.addEventListener('message', listen);
    tabs.postMessage({ from: id });
    setTimeout(done, patience, null);
  });
  if (token !== null && credential() === null) storage.setItem(key, token);
}

tabs.addEventListener('message', ({ data }) => {
  if (data?.from && credential() !== null) tabs.postMessage({ to: data.from, token: credential() });
  if (data?.signedOut) end(false);
});

/** Removes the credential. `rejected` says that the API does not accept it; otherwise the other tabs are signed out, too. */
export function signOut(rejected = false) {
  if (!rejected) tabs.postMessage({ signedOut: true });
  end(rejected);
}

function end(rejected) {
  const token = credential();
  storage.removeItem(key);
  if (!rejected) draftStorage.remove();
  if (token !== null) events.dispatchEvent(new CustomEvent('signed-out', { detail: { token, rejected } }));
}

/** Moves the code of `#code=…` out of the address bar and the history. */
function takeCode() {
  const [, found] = /^#code=(.+)$/.exec(window.location.hash) ?? [];
  if (!found) return null;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  return found;
}

/** Moves the parameters of the issuer's response out of the address bar and the history. */
function takeResponse() {
  const parameters = new URLSearchParams(window.location.search);
  if (!['code', 'state', 'error'].some((name) => parameters.has(name))) return null;
  window.history.replaceState(null, '', window.location.pathname + window.location.hash);
  return parameters;
}
