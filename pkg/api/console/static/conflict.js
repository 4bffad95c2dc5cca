// What someone else has changed since a form was opened: nothing overwrites it, and a form can take it over.

import { call, read } from './api.js';
import { merge } from './merge.js';
import { element, html, nothing, render } from './template.js';

/**
 * The template of a notice that says it.
 * @param {Object} options
 * @param {Object} options.before what the form began with
 * @param {Object} options.theirs what the resource is now
 * @param {Object<string, string>} options.labels of the properties that the form shows
 * @param {string[]} options.taken the names of what only they have changed
 * @param {string[]} options.both the names of what both have changed
 * @param {Set<string>} options.taking what both have changed, and the user has taken over
 * @param {(name: string) => void} options.take takes over a value of theirs
 * @param {(name: string, value: unknown) => string|undefined} [options.say] says a value in another way
 * @param {string} [options.by] who has changed it
 */
export function conflictNotice({ before, theirs, labels, taken, both, taking, take, say = () => undefined, by = 'Someone' }) {
  const shown = (name, value) => say(name, value) ?? (value === null || value === undefined || value === '' ? 'none'
    : Array.isArray(value) ? `${value.length} values` : value === true ? 'yes' : value === false ? 'no' : String(value));
  const change = (name) => html`${labels[name]}: <del><bdi>${shown(name, before[name])}</bdi></del> → <ins><bdi>${shown(name, theirs[name])}</bdi></ins>`;
  return html`
    <p><strong><bdi>${by}</bdi> has changed it since you opened it. </strong>Nothing was saved, and your input is still here.</p>
    ${taken.length > 0 ? html`<p>Taken over, because you have not changed it:</p><ul>${taken.map((name) => html`<li>${change(name)}</li>`)}</ul>` : nothing}
    ${both.length > 0 ? html`<p>Changed by both. The form has what you entered:</p><ul>${both.map((name) => html`<li>${change(name)} ${
      taking.has(name) ? '(taken over)' : html`<button type="button" aria-label="Take theirs: ${labels[name]}" @click=${() => take(name)}>Take theirs</button>`}</li>`)}</ul>` : nothing}
    <p>Save again to save what the form shows.</p>`;
}

/**
 * Takes over into a form what only someone else has changed. What both have changed stays, with a button that takes theirs.
 * @param {Object} options
 * @param {Object} options.before what the form began with
 * @param {Object} options.mine what the form would save
 * @param {Object} options.theirs what the resource is now
 * @param {Object<string, string>} options.labels of the properties that the form shows. Those that are not in `mine` are only shown
 * @param {(name: string, value: unknown) => void} options.write enters a value
 * @param {(name: string, value: unknown) => string|undefined} [options.say] says a value in another way
 * @param {string} [options.by] who has changed it
 * @returns {HTMLElement} a notice that says it
 */
export function mergeForm({ before, mine, theirs, labels, write, say, by }) {
  const { taken, both } = merge(before, { ...before, ...mine }, theirs, Object.keys(labels));
  const taking = new Set(); // what both have changed, and the user takes over
  const notice = element(html`<div class="notice warn" role="alert"></div>`);
  for (const name of taken) write(name, theirs[name]);
  draw();
  return notice;

  function draw() {
    render(conflictNotice({ before, theirs, labels, taken, both, taking, take, say, by }), notice);
  }

  function take(name) {
    write(name, theirs[name]);
    taking.add(name);
    draw();
  }
}

/**
 * Replaces a resource, unless someone else has changed what a form shows of it since the form was opened.
 * @param {string} path of the resource
 * @param {Object} body of the PUT
 * @param {{content: Object, etag: string|null}} opened what the form began with
 * @param {Object<string, string>} labels of the properties that the form shows
 * @param {string} [to] the path of the PUT, if it is another one
 * @param {typeof call} [write] sends the PUT
 * @returns {Promise<{result?: Object, now?: {content: Object, etag: string|null}}>} what the API has saved, or what there is now instead of
 *   `opened`
 */
export async function save(path, body, opened, labels, to = path, write = call) {
  if (opened.etag) {
    try {
      return { result: await write('PUT', to, body, { etag: opened.etag }) };
    } catch (error) {
      if (error.status !== 412) throw error;
    }
  }
  // The resource has changed, or a proxy changes or removes its entity tag: only the content tells.
  const now = await read(path);
  return isChanged(opened, now, labels) ? { now } : { result: await write('PUT', to, body) };
}

/** Reports whether a resource has changed in what a form shows of it, whose names `labels` has. */
export const isChanged = (opened, now, labels) => Object.keys(labels).some((name) => JSON.stringify(opened.content[name]) !== JSON.stringify(now.content[name]));
