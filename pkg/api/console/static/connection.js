// Whether the service can be reached. While it cannot, a bar says so, and asks again until it can.

const bar = document.getElementById('connection');
const shortest = 1000; // the time between two attempts, in milliseconds
const longest = 10_000;

/** Functions to call when the service can be reached again. Null while it can be reached. */
let waiting = null;
/** The check that runs. */
let checking = null;

/** Reports whether the service cannot be reached, after a request got no response. Then the bar appears. */
export async function isLost() {
  if (waiting) return true;
  checking ??= isReachable().finally(() => { checking = null; });
  if (await checking) return false;
  if (!waiting) reconnect();
  return true;
}

/** Calls a function once, when the service can be reached again. Does nothing if it can be reached. */
export function onReconnect(action) {
  waiting?.push(action);
}

async function reconnect() {
  waiting = [];
  bar.textContent = 'No connection. Retrying…';
  let pause = shortest;
  do {
    await online(pause);
    pause = Math.min(2 * pause, longest);
  } while (!await isReachable());
  const actions = waiting;
  waiting = null;
  bar.textContent = '';
  for (const action of actions) action();
}

/**
 * Waits until the browser says that it is online, but not longer than a time in milliseconds.
 * @returns {Promise<Event|void>}
 */
const online = (longestTime) => new Promise((resolve) => {
  const done = (event) => {
    clearTimeout(timer);
    window.removeEventListener('online', done);
    resolve(event);
  };
  const timer = setTimeout(done, longestTime);
  window.addEventListener('online', done);
});

/** Requests the page, which needs no credential. */
async function isReachable() {
  try {
    await fetch(new URL('..', import.meta.url), { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(longest) });
    return true;
  } catch {
    return false;
  }
}
