// The switch of a toggle in an environment. Production asks, and says what it does.

import { call, read } from '../api.js';
import { form, openDialog } from '../dialog.js';
import { text } from '../dom.js';
import { environmentPath, isProduction } from '../environment.js';
import { lastHours, loadRecentUse } from '../recent-use.js';
import { reversibly } from '../restore.js';
import { loadSegments, segmentNames } from '../segment.js';
import { element, html } from '../template.js';
import { changedToggles } from '../toggle.js';
import { onFor } from '../words.js';

/**
 * Turns a toggle on or off in an environment.
 * @param {{project: string, name: string}} toggle
 * @param {{name: string, type: string}} environment
 * @param {boolean} on
 * @param {{announce: Function, signal: AbortSignal}} context of the page
 * @param {(busy: boolean, on?: boolean) => void} show called before and after a request, with the state that the API has confirmed
 */
export async function turn(toggle, environment, on, { announce, signal }, show) {
  show(true);
  try {
    if (!isProduction(environment)) {
      await send(toggle, environment, on, announce, show);
      return;
    }
    await ask(toggle, environment, on, { announce, signal }, show);
  } catch (error) {
    if (!signal.aborted) announce(`${toggle.name} was not turned ${on ? 'on' : 'off'} in ${environment.name}. ${error.message}`);
  }
  if (!signal.aborted) show(false);
}

async function send(toggle, environment, on, announce, show, opened) {
  const said = (value) => `${toggle.name} turned ${value ? 'on' : 'off'} in ${environment.name}.`;
  const path = `${environmentPath(toggle, environment.name)}/${on ? 'on' : 'off'}`;
  const { undo } = await reversibly(toggle, environment.name, (etag) => call('POST', path, undefined, { etag }), opened);
  show(false, on);
  changedToggles();
  announce(said(on), undo && (async () => {
    await undo();
    changedToggles();
    return said(!on);
  }));
}

async function ask(toggle, environment, on, { announce, signal }, show) {
  const opened = await read(environmentPath(toggle, environment.name), { signal });
  const { strategies } = opened.content;
  const segments = strategies.some(({ segments: ids }) => ids.length > 0) ? await loadSegments(signal) : [];
  const sentences = onFor(strategies, segmentNames(segments));
  const use = element(html`<p class="detail" role="status"></p>`);
  loadRecentUse(toggle, signal, 2).then((data) => { use.textContent = lastHours(data, environment); }).catch(() => {}); // it is not needed
  const title = ['Turn ', on ? 'on ' : 'off ', text(toggle.name), ' in ', text(environment.name), '?'];
  const dialog = openDialog(title, () => [
    html`<p>${on ? 'It will be on for:' : 'It will be off for everyone. Now it is on for:'}</p>`,
    html`<ul class="sentences">${sentences.map((sentence) => html`<li>${text(sentence)}</li>`)}</ul>`,
    use,
    form({
      submit: on ? 'Turn on' : 'Turn off', busy: 'Working…', danger: !on, cancel: () => dialog.close(),
      async send() {
        await send(toggle, environment, on, announce, show, opened);
        dialog.close();
      },
    }),
  ]);
}
