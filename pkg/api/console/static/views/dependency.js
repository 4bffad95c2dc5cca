// The dialogs that let a toggle depend on a parent, end that, and copy a toggle.

import { call } from '../api.js';
import { combobox, matching } from '../combobox.js';
import { FieldError, checkName, field, form, openDialog } from '../dialog.js';
import { text, uniqueId } from '../dom.js';
import { livePlaces } from '../environment.js';
import { changedSince } from '../restore.js';
import { dependencyLine } from '../state-words.js';
import { element, html, nothing, render, repeat } from '../template.js';
import { changedToggles, searchToggles, toggleAddress, togglePath } from '../toggle.js';
import { makeChange } from './change-sheet.js';

const shownParents = 20;

const dependenciesPath = (toggle) => `${togglePath(toggle)}/dependencies`;

/** Asks on which toggle a toggle depends, or changes that. */
export function openDependencyEditor(toggle, context) {
  const { announce, signal } = context;
  const current = toggle.dependencies[0];
  const parent = element(html`<input name="feature" required placeholder="Search the project" value=${current?.feature ?? ''}>`);
  const state = element(html`<select name="enabled"><option value="on">on</option><option value="off">off</option></select>`);
  state.value = current?.enabled === false ? 'off' : 'on';
  const variants = element(html`<div></div>`);
  let chosen = current?.feature ?? '';
  const box = combobox(parent, { choices: parents, choose: (value) => { chosen = value; showVariants([]); } });
  state.addEventListener('change', () => showVariants([]));
  const dialog = openDialog([text(toggle.name), ' depends on'], () => [
    html`<p>It is on only if its parent has this state in the same environment, and a strategy holds.</p>`,
    form({ submit: 'Save', busy: 'Saving…', cancel: () => dialog.close(), send },
      field('Parent', parent, 'A toggle of the same project that does not depend on another one.', box.element),
      field('Must be', state),
      variants),
  ]);
  parent.focus();
  showVariants(current?.variants ?? []);

  async function parents(query) {
    const { features } = await searchToggles({ query, project: toggle.project, sortBy: query ? 'relevance' : 'name', limit: shownParents }, signal)
      .catch(() => ({ features: [] }));
    return matching(features.filter(({ name, dependencyType }) => name !== toggle.name && dependencyType !== 'child')
      .map(({ name }) => ({ value: name, label: name })), '');
  }

  /** Offers the variants that the parent can have, of which some are selected. */
  async function showVariants(selected) {
    const of = chosen;
    render(nothing, variants);
    if (of === '' || state.value === 'off') return;
    const { environments } = await call('GET', togglePath({ project: toggle.project, name: of }), undefined, { signal }).catch(() => ({ environments: [] }));
    const names = new Set([...selected, ...environments.flatMap(({ strategies }) => strategies.flatMap((strategy) => strategy.variants.map(({ name }) => name)))]);
    if (of !== chosen || state.value === 'off' || names.size === 0) return;
    render(html`<fieldset><legend>With one of these variants</legend><p class="detail">None: with any.</p>
      <div class="choices">${repeat(names, (name) => name, (name) => html`<label class="check"><input type="checkbox" value=${name}
        ?checked=${selected.includes(name)}><span>${text(name)}</span></label>`)}</div></fieldset>`, variants);
  }

  async function send() {
    if (chosen === '') throw new FieldError('feature', 'Choose a toggle.');
    const isOn = state.value === 'on';
    const body = { feature: chosen, enabled: isOn, ...isOn && { variants: [...variants.querySelectorAll(':checked')].map(({ value }) => value) } };
    const result = await makeChange({
      title: ['Change the dependency of ', text(toggle.name), '?'],
      submit: 'Save',
      items: [dependencyItem(toggle, current, body)],
      async send({ write }) {
        await write('POST', dependenciesPath(toggle), body);
        announce(`${toggle.name} depends on ${chosen}.`, undoingDependency(toggle, body, current, context));
      },
    }, context);
    if (result === '') return;
    dialog.close();
    changedToggles();
  }
}

/**
 * What another dependency of a toggle changes: it decides wherever the toggle is on.
 * @returns {import('./change-sheet.js').Item}
 */
export function dependencyItem(toggle, before, after) {
  return {
    name: toggle.name,
    toggles: [toggle],
    places: livePlaces(toggle),
    permission: 'UPDATE_FEATURE_DEPENDENCY',
    lines: () => [dependencyLine(before, after)],
    asked: () => [after ? { feature: toggle.name, action: 'addDependency', payload: after } : { feature: toggle.name, action: 'deleteDependency' }],
  };
}

/** Returns what gives a toggle the dependency that it had before a change. */
function undoingDependency(toggle, made, before, context) {
  return Object.assign(undo, { items: [dependencyItem(toggle, made, before)] });

  async function undo() {
    const now = await call('GET', togglePath(toggle));
    if (JSON.stringify(now.dependencies.map(({ feature }) => feature)) !== JSON.stringify(made ? [made.feature] : [])) throw changedSince();
    const result = await makeChange({
      title: 'Undo this change?',
      submit: 'Undo',
      items: [dependencyItem(now, made, before)],
      send: ({ write }) => setDependency(toggle, made, before, write),
    }, context);
    if (result !== 'made') return undefined;
    changedToggles();
    return before ? `${toggle.name} depends on ${before.feature}.` : `${toggle.name} no longer depends on ${made.feature}.`;
  }
}

/** Gives a toggle another dependency. Undefined: none. */
export const setDependency = (toggle, before, after, write) => (after ? write('POST', dependenciesPath(toggle), after)
  : write('DELETE', `${dependenciesPath(toggle)}/${encodeURIComponent(before.feature)}`));

/** Asks, and ends the dependency of a toggle. */
export function removeDependency(toggle, context) {
  const [dependency] = toggle.dependencies;
  return makeChange({
    title: ['Remove the dependency of ', text(toggle.name), '?'],
    submit: 'Remove',
    danger: true,
    always: true,
    content: [html`<p>Afterwards its switches and strategies alone decide.</p>`],
    items: [dependencyItem(toggle, dependency, undefined)],
    async send({ write }) {
      await setDependency(toggle, dependency, undefined, write);
      changedToggles();
      context.announce(`${toggle.name} no longer depends on ${dependency.feature}.`, undoingDependency(toggle, undefined, dependency, context));
    },
  }, context);
}

/** Asks for the name of a copy of a toggle, creates it, and shows it. */
export function openClone(toggle, { announce }) {
  const name = element(html`<input name="name" autocomplete="off" spellcheck="false" required>`);
  const independent = element(html`<input type="checkbox" id=${uniqueId()} checked>`);
  const dialog = openDialog(['Clone ', text(toggle.name)], () => [
    html`<p>The copy has the same properties and strategies, and is off in every environment. It depends on no toggle.</p>`,
    form({ submit: 'Clone', busy: 'Cloning…', cancel: () => dialog.close(), send },
      field('Name', name, 'Up to 100 letters, digits and . _ ~ -. The name cannot be changed later.'),
      html`<div class="field"><div class="check">${independent}
        <label for=${independent.id}>Gradual rollouts select other users than those of ${text(toggle.name)}</label></div></div>`),
  ]);
  name.focus();

  async function send() {
    checkName(name.value);
    const copy = await call('POST', `${togglePath(toggle)}/clone`, { name: name.value, replaceGroupId: independent.checked });
    dialog.close();
    changedToggles();
    announce(`Toggle ${copy.name} created.`);
    window.location.hash = toggleAddress(copy);
  }
}
