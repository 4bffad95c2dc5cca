// The switch of a toggle in an environment.

import { read } from '../api.js';
import { text } from '../dom.js';
import { environmentPath } from '../environment.js';
import { reversibly } from '../restore.js';
import { changedToggles } from '../toggle.js';
import { makeChange } from './change-sheet.js';
import { stateItem, undoing } from './state-change.js';

/**
 * Turns a toggle on or off in an environment.
 * @param {{project: string, name: string}} toggle
 * @param {{name: string, type: string}} environment
 * @param {boolean} on
 * @param {{may: Function, announce: Function, signal: AbortSignal}} context of the page
 * @param {(busy: boolean, on?: boolean) => void} show called before and after a request, with the state that the API has confirmed
 */
export async function turn(toggle, environment, on, context, show) {
  const { announce, signal } = context;
  const said = (value) => `${toggle.name} turned ${value ? 'on' : 'off'} in ${environment.name}.`;
  let result = '';
  show(true);
  try {
    const path = environmentPath(toggle, environment.name);
    const opened = await read(path, { signal });
    result = await makeChange({
      title: ['Turn ', on ? 'on ' : 'off ', text(toggle.name), ' in ', text(environment.name), '?'],
      submit: on ? 'Turn on' : 'Turn off',
      danger: !on,
      items: [stateItem(toggle, environment, opened.content, { ...opened.content, enabled: on }, {
        permission: 'UPDATE_FEATURE_ENVIRONMENT', asked: () => [{ feature: toggle.name, action: 'updateEnabled', payload: { enabled: on } }],
      })],
      opened: () => show(false),
      async send({ write }) {
        const change = await reversibly(toggle, environment, (etag) => write('POST', `${path}/${on ? 'on' : 'off'}`, undefined, { etag }), opened);
        show(false, on);
        changedToggles();
        announce(said(on), undoing([change], context, () => said(!on)));
      },
    }, context);
  } catch (error) {
    if (!signal.aborted) announce(`${toggle.name} was not turned ${on ? 'on' : 'off'} in ${environment.name}. ${error.message}`);
  }
  if (result !== 'made' && !signal.aborted) show(false);
}
