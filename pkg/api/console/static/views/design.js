// The components of the console in their states, made by the functions that the pages use. The page exists only in a local service.

import { combobox, matching } from '../combobox.js';
import { mergeForm } from '../conflict.js';
import { constraintEditor, draftConstraint } from '../constraints.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { counted, failure, loading, text } from '../dom.js';
import { environmentName, toggleSwitch } from '../environment.js';
import { expiry, expiryChoice } from '../expiry.js';
import { linked } from '../linked.js';
import { menu } from '../menu.js';
import { recentUse } from '../recent-use.js';
import { keyOf, roleMatrix, rowsOf } from '../role-matrix.js';
import { marked } from '../search.js';
import { denseTable, sorted } from '../table.js';
import { element, html, render as show } from '../template.js';
import { age, shortDate, time } from '../time.js';
import { stageBadge, stageNames } from '../toggle.js';
import { allowed, locked, lockedItem, lockedSwitch } from '../why.js';
import { strategyWords, variantWords } from '../words.js';

const day = 86_400_000;
const longName = 'checkout.payments.of-customers_in-the-regions-of-europe-and-beyond-with-the-longest-name-of-all';
const production = { name: 'production', type: 'production' };
const development = { name: 'development', type: 'development' };
const at = (days) => new Date(Date.now() + days * day).toISOString();
const need = { permission: 'UPDATE_FEATURE_ENVIRONMENT', project: 'shop', environment: 'production', to: 'turn new-checkout on and off in production' };
const refused = { may: () => false, asks: () => false, announce: () => {} };
const never = () => new Promise(() => {});

export function render(content, { announce, setActions }) {
  const state = {
    order: 'Name',
    permissions: new Set([keyOf('CREATE_FEATURE'), keyOf('UPDATE_FEATURE_ENVIRONMENT', 'production')]),
    constraints: [
      draftConstraint({ contextName: 'country', operator: 'IN', values: ['DE', 'AT', longName] }),
      draftConstraint({ contextName: 'appVersion', operator: 'SEMVER_GTE', value: '4.2.0', inverted: true }),
    ],
  };
  const rows = [
    { name: 'new-checkout', type: 'Release', created: at(-40), on: true },
    { name: longName, type: 'Kill switch', created: at(-400), on: false },
  ];
  const columns = [
    { name: 'Name', compare: (a, b) => a.name.localeCompare(b.name), cell: ({ name }) => html`<a href="#/design">${marked(name, 'check')}</a>` },
    { name: 'Type', cell: ({ type }) => type },
    { name: 'Created', compare: (a, b) => a.created.localeCompare(b.created), cell: ({ created }) => age(created) },
    { name: 'production', cell: ({ name, on }) => toggleSwitch({ label: `${name} in production`, on, busy: false, change: () => {} }) },
  ];
  const once = controls(); // elements that keep their state
  setActions(html`<button type="button">Second action</button>`, html`<button type="button" class="primary">Main action</button>`);
  draw();

  function draw() {
    show(sections().map(([title, part]) => html`<section><h2>${title}</h2>${part}</section>`), content);
  }

  function sections() {
    return [
      ['Buttons', html`<div class="buttons">
        <button type="button">Plain</button> <button type="button" class="primary">Primary</button> <button type="button" class="danger">Danger</button>
        <button type="button" class="danger quiet">Quiet danger</button> <button type="button" aria-disabled="true">Waits</button>
        <button type="button" class="primary" aria-disabled="true" aria-busy="true">Saving…</button> <a class="button" href="#/design">Link</a>
        ${menu('Actions of new-checkout', 'menu-design', [
          { label: 'Edit', action: () => {} }, { label: 'Show', href: '#/design' }, { label: 'Delete', danger: true, action: () => {} },
        ])}</div>`],
      ['Stages and badges', html`<p>${Object.keys(stageNames).filter(Boolean).map((stage) => html`${stageBadge({ stage })} `)}
        <span class="badge">Badge</span> ${[at(-1), at(3)].map((expiresAt) => {
          const { kind, label } = expiry({ expiresAt });
          return html`<span class="badge ${kind}">${label}</span> `;
        })}</p><p>${environmentName(development)}, ${environmentName(production)}</p>`],
      ['Tabs', html`<ul class="tabs" aria-label="Stages"><li><a href="#/design" aria-current="true">Rolling out <span class="number">4,014</span></a></li>
        <li><a href="#/design">Overdue <span class="number">0</span></a></li><li><a href="#/design">Archived <span class="number">…</span></a></li></ul>`],
      ['Switches', html`<p>${[
        { label: 'Off', on: false }, { label: 'On', on: true }, { label: 'Waits for on', on: false, busy: true },
        { label: 'Waits for off', on: true, busy: true }, { label: 'Not allowed', on: true, disabled: true },
      ].map((options) => html`<span class="on">${toggleSwitch({ change: () => {}, ...options })}</span> `)}</p>`],
      ['What the user may not use', html`<div class="buttons">${locked(need, refused, 'Turn on')} ${allowed(need, refused, 'Turn off', html`<button type="button">Turn off</button>`)}
        <span class="on">${lockedSwitch(need, refused, 'new-checkout in production', true)}</span> <span class="on">${lockedSwitch(need, refused, 'search in production', false)}</span>
        ${menu('Actions of search', 'menu-locked', [{ label: 'Copy name', action: () => {} }, lockedItem(need, refused, 'Archive')])}</div>`],
      ['Permissions of a role', html`${matrix()}${matrix((keys, on) => {
        for (const key of keys) {
          if (on) state.permissions.add(key);
          else state.permissions.delete(key);
        }
        draw();
      })}`],
      ['Table, which is a list of cards on a phone', denseTable({
        caption: 'Toggles', columns, items: sorted(rows, columns, state.order), key: ({ name }) => name, order: state.order,
        sort: (order) => { state.order = order; draw(); },
        actions: ({ name }) => ({ name, items: [{ label: 'Archive', danger: true, action: () => {} }] }),
      })],
      ['Times', html`<p>${time(at(-0.1))}, ${age(at(-15))}, ${shortDate(at(0))}, Never, ${counted(1, 'toggle')}, ${counted(10007, 'toggle')}</p>`],
      ['Sentences', html`<ul class="sentences">
        <li>${strategyWords({
          name: 'flexibleRollout', parameters: { rollout: '25', stickiness: 'userId' }, segments: [1],
          constraints: [{ contextName: 'country', operator: 'IN', values: ['DE', 'AT'] }],
        }, () => 'Beta customers')}</li>
        <li>${variantWords([{ name: 'blue', weight: 500 }, { name: 'green', weight: 500 }])}</li>
        <li>${linked('See https://example.com/checkout.')}</li></ul>`],
      ['Use', html`${recentUse(once.use, { name: 'production', lastSeenAt: at(0) })}${recentUse([], { name: 'production', lastSeenAt: null })}`],
      ['Conditions with chips', once.constraints(state.constraints, { 1: 'The value must be a version.' })],
      ['Form with errors', once.form],
      ['Form that waits', once.busy],
      ['Conflict', once.conflict],
      ['Notices', html`<p class="notice">Something to know.</p><p class="notice warn">Something to look after.</p>`],
      ['Loading', loading('the toggles')],
      ['Empty', html`<p class="empty">No toggle matches the filters.</p>`],
      ['Error', once.failure],
      ['Dialog and message', html`<div class="buttons">
        <button type="button" @click=${ask}>Open a dialog</button>
        <button type="button" @click=${() => announce('Toggle new-checkout archived.')}>Show a message</button>
        <button type="button" @click=${() => announce('50 toggles archived.', async () => '50 toggles revived.')}>Show a message with Undo</button>
        <button type="button" @click=${() => { document.getElementById('connection').textContent = 'No connection. Retrying…'; }}>Show the bar without a connection</button>
      </div>`],
    ];
  }

  /** @param {(keys: string[], on: boolean) => void} [change] */
  function matrix(change) {
    const inEnvironment = [{ name: 'UPDATE_FEATURE_ENVIRONMENT', displayName: 'Turn toggles on and off' }];
    const environments = [development, production];
    return roleMatrix({
      caption: change ? 'Permissions to choose' : 'Permissions',
      rows: rowsOf({
        root: [], project: [{ name: 'CREATE_FEATURE', displayName: 'Create toggles' }], environments: environments.map(({ name }) => ({ name, permissions: inEnvironment })),
      }, false),
      environments,
      has: (key) => state.permissions.has(key),
      change,
    });
  }

  function controls() {
    const projects = ['default', 'shop', 'blog'].map((value) => ({ value, label: value, detail: '3 toggles' }));
    const input = (name, value = '') => element(html`<input name=${name} value=${value} autocomplete="off">`);
    const project = combobox(input('project', 'shop'), { choices: (typed) => matching(projects, typed), free: true }).element;
    const name = input('name');
    const invalid = form({ submit: 'Save', busy: 'Saving…', cancel: () => {}, send: async () => { throw new FieldError('name', 'Enter a name.'); } },
      field('Name', name, 'Up to 100 letters and digits.'), field('Project', project.querySelector('input'), 'Proposes choices.', project), expiryChoice().fields);
    const busy = form({ submit: 'Create toggle', busy: 'Creating…', send: never }, field('Description', element(html`<textarea name="description" rows="2"></textarea>`)));
    for (const place of [invalid, busy]) place.dispatchEvent(new Event('submit', { cancelable: true }));
    return {
      form: invalid,
      busy,
      conflict: mergeForm({
        before: { description: 'first', type: 'release' }, mine: { description: 'mine', type: 'release' },
        theirs: { description: 'theirs', type: 'experiment' }, labels: { description: 'Description', type: 'Type' }, write: () => {}, by: 'Ada',
      }),
      failure: failure(Object.assign(new Error('The toggles could not be loaded.'), { id: '0f8fad5b-d9cb-469f-a165-70867728950e' }), () => {}),
      constraints: constraintEditor(() => [{ name: 'country', legalValues: [] }, { name: 'appVersion', legalValues: [] }],
        (constraints) => { state.constraints = constraints; draw(); }),
      use: Array.from({ length: 24 }, (_, i) => ({
        environment: 'production', appName: i % 2 ? 'shop' : 'blog', timestamp: at(-i / 24), yes: 40 * (i % 7), no: 25 * (i % 5), variants: {},
      })),
    };
  }

  function ask() {
    const dialog = openDialog(['Delete ', text(longName), '?'], () => [
      html`<p>This cannot be undone.</p>`,
      form({ submit: 'Delete', busy: 'Deleting…', danger: true, cancel: () => dialog.close(), send: async () => dialog.close() }),
    ]);
  }
}
