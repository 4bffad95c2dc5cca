// All environments of a toggle in one picture: a row for each, with its switch, for whom it is on, its use, and how its strategies differ from production.

import { differences } from '../compare.js';
import { counted } from '../dom.js';
import { environmentAddress, environmentName, isProduction, offeredSwitch } from '../environment.js';
import { recentSparkline } from '../recent-use.js';
import { segmentNames } from '../segment.js';
import { html, nothing } from '../template.js';
import { stateSentence } from '../words.js';
import { turn } from './switching.js';

/**
 * @param {Object} state that of the page of the toggle
 * @param {Object} context of the page
 * @param {() => void} draw
 * @returns {(current: Object|undefined) => unknown} the template. The row of the environment that the page shows is marked
 */
export function toggleMatrix(state, context, draw) {
  return (current) => html`<ul class="matrix" aria-label="Environments">${state.toggle.environments.map((item) => html`<li>
    <a class="row-name" data-here href=${environmentAddress(state.toggle, item.name)} aria-current=${item === current ? 'true' : nothing}>${
  environmentName(item)} <span class="number">${isOn(item) ? 'on' : 'off'}</span></a>
    <div class="on">${switchOf(item)}</div>
    <p class="one-line" title=${sentence(item)}>${sentence(item)}</p>
    <div class="use">${state.recent ? recentSparkline(state.recent, item) : nothing}</div>
    <div class="detail difference">${difference(item)}</div>
  </li>`)}</ul>`;

  /** An archived toggle is off for everybody. Its environments keep the state that they had. */
  function isOn({ enabled }) {
    return enabled && !state.toggle.archived;
  }

  function switchOf(item) {
    const { toggle } = state;
    if (toggle.archived) return nothing;
    return offeredSwitch(toggle, item, context, {
      on: item.enabled,
      busy: state.busy,
      change: () => turn(toggle, item, !item.enabled, context, (busy, now = item.enabled) => {
        state.busy = busy;
        item.enabled = now;
        draw();
      }),
    });
  }

  function sentence(item) {
    return stateSentence({ ...item, enabled: isOn(item) }, segmentNames(state.segments));
  }

  /** How many strategies are not as in production. */
  function difference(item) {
    const production = state.toggle.environments.find(isProduction);
    if (!production || production === item || production.strategies.length + item.strategies.length === 0) return nothing;
    const count = differences(item.strategies, production.strategies).length;
    if (count === 0) return 'as production';
    return html`<a data-here href="${environmentAddress(state.toggle, item.name)}?${new URLSearchParams({ compare: production.name })}">${
      counted(count, 'difference')} to ${production.name}</a>`;
  }
}
