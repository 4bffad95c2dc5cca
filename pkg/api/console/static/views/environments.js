// Environments: the list with their order, and the dialogs that create, change and delete one.

import { call, read } from '../api.js';
import { mergeForm, save } from '../conflict.js';
import { FieldError, checkName, field, form, openDialog } from '../dialog.js';
import { counted, failure, focusOn, loading, text } from '../dom.js';
import { draftFor, keepControls, writer } from '../draft.js';
import { environmentName, loadEnvironments } from '../environment.js';
import { ordersAfterMove } from '../order.js';
import { forgetProtections } from '../protection.js';
import { changedSince } from '../restore.js';
import { denseTable } from '../table.js';
import { element, html, nothing, render as show } from '../template.js';
import { listAddress } from '../toggle.js';
import { allowed } from '../why.js';
import { freezeWords, openFreeze, openThaw } from './freeze-dialog.js';

const path = '/api/admin/environments';
const labels = { type: 'Type', sortOrder: 'Order', requiredApprovals: 'Approvals' };
const mostApprovals = 10;
const proposals = ['development', 'test', 'preproduction', 'production'];

export async function render(content, context) {
  const { may, signal, announce, setActions } = context;
  const state = { environments: null, busy: false, error: null };
  setActions(allowed({ permission: 'ADMIN', to: 'create environments' }, context, 'Create environment',
    html`<button type="button" class="primary" @click=${() => openEditor(null, saved)}>Create environment</button>`));
  await load();
  const continued = draftFor('environment');
  if (continued) await edit({ name: continued });
  else if (continued === null) openEditor(null, saved);

  async function load() {
    state.busy = true;
    draw();
    try {
      Object.assign(state, { environments: await loadEnvironments(signal), error: null });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    state.busy = false;
    draw();
  }

  function draw() {
    const { environments, error, busy } = state;
    show(html`
      <p class="lead">Each toggle has a switch and strategies of its own in each environment. In an environment of the type production, changes of
        toggles that are on are confirmed first.</p>
      ${error ? failure(error, load) : !environments ? loading('the environments')
    : environments.length === 0 ? html`<p class="empty">There are no environments.</p>`
      : html`<section class="results" aria-label="Environments" aria-busy=${busy ? 'true' : nothing}>${list()}</section>`}`, content);
  }

  function list() {
    const last = state.environments.length - 1;
    return denseTable({
      caption: 'Environments',
      kind: 'few',
      columns: [
        { name: 'Name', cell: (environment) => html`${environmentName(environment)}${environment.freeze ? freezeWords(environment.freeze) : nothing}` },
        { name: 'Type', kind: 'one-line', cell: ({ type }) => html`<bdi title=${type}>${type}</bdi>` },
        { name: 'Approvals', kind: 'number', cell: ({ requiredApprovals: least }) => (least === null ? html`<span class="detail">–</span>` : least) },
        { name: 'Toggles on', kind: 'number', cell: togglesOn },
        { name: 'Client tokens', kind: 'number', cell: ({ name, apiTokenCount: count }) => (count > 0 && may('READ_CLIENT_API_TOKEN')
          ? html`<a href="#/api-tokens?${new URLSearchParams({ environment: name })}">${count.toLocaleString('en')}<span class="visually-hidden"> ${
            count === 1 ? 'client token' : 'client tokens'} of <bdi>${name}</bdi></span></a>` : count.toLocaleString('en')) },
      ],
      items: state.environments,
      key: ({ name }) => name,
      actions: may('ADMIN') && ((environment) => {
        const at = state.environments.indexOf(environment);
        return {
          name: environment.name,
          items: [
            { label: 'Edit', action: () => edit(environment) },
            ...at > 0 ? [{ label: 'Move up', action: () => move(at, at - 1) }] : [],
            ...at < last ? [{ label: 'Move down', action: () => move(at, at + 1) }] : [],
            ...freezing(environment),
            { label: 'Delete', danger: true, action: () => remove(environment) },
          ],
        };
      }),
    });
  }

  function togglesOn(environment) {
    const { name, enabledToggleCount: count } = environment;
    return count === 0 ? '0' : html`<a href=${whereOn(environment)}>${count.toLocaleString('en')}<span class="visually-hidden"> ${
      count === 1 ? 'toggle is on' : 'toggles are on'} in <bdi>${name}</bdi></span></a>`;
  }

  /** What freezes an environment in all projects. */
  function freezing(environment) {
    const { name, freeze } = environment;
    const of = { path: `${path}/${encodeURIComponent(name)}/freeze`, name: environmentName(environment), said: `${name} of all projects`, freeze };
    return [
      { label: freeze ? 'Change the freeze' : 'Freeze', action: () => openFreeze(of, context, load) },
      ...freeze ? [{ label: 'End the freeze', action: () => openThaw(of, context, load) }] : [],
    ];
  }

  /** Moves an environment to another position. */
  async function move(from, to) {
    if (state.busy) return;
    const { name } = state.environments[from];
    const changes = ordersAfterMove(state.environments, from, to);
    try {
      await setOrders(changes);
      announce(`Environment ${name} moved ${to < from ? 'up' : 'down'}.`, async () => {
        const now = await loadEnvironments();
        if (!changes.every(({ name: moved, sortOrder }) => now.find((item) => item.name === moved)?.sortOrder === sortOrder)) throw changedSince();
        await setOrders(changes.map(({ before, ...change }) => ({ ...change, sortOrder: before })));
        return 'The order is as it was.';
      });
    } catch (error) {
      if (!signal.aborted) announce(`The order was not changed completely. ${error.message}`);
    }
  }

  async function setOrders(changes) {
    state.busy = true;
    if (!signal.aborted) draw();
    try {
      for (const { name, sortOrder } of changes) await call('PUT', `${path}/update/${encodeURIComponent(name)}`, { sortOrder });
    } finally {
      if (!signal.aborted) await load();
    }
  }

  /** Opens the editor with the current content of an environment. */
  async function edit({ name }) {
    try {
      openEditor(await read(`${path}/${encodeURIComponent(name)}`, { signal }), saved);
    } catch (error) {
      if (!signal.aborted) announce(`The environment cannot be edited. ${error.message}`);
    }
  }

  async function saved(name, isNew) {
    announce(`Environment ${name} ${isNew ? 'created' : 'saved'}.`);
    await load();
  }

  function remove(environment) {
    const { name, enabledToggleCount: on, apiTokenCount: tokens } = environment;
    if (on > 0 || tokens > 0) {
      const uses = [on > 0 && `${counted(on, 'toggle')} ${on === 1 ? 'is' : 'are'} on there`, tokens > 0 && `it has ${counted(tokens, 'client token')}`];
      const where = on > 0 ? whereOn(environment) : `#/api-tokens?${new URLSearchParams({ environment: name })}`;
      const dialog = openDialog([text(name), ' cannot be deleted'], () => html`
        <p>${sentence(uses.filter(Boolean).join(', and '))} ${on > 0 ? 'Turn the toggles off first' : 'Revoke the tokens first'}.</p>
        <div class="buttons"><a class="button" href=${where}>Show them</a>
          <button type="button" class="primary" @click=${() => dialog.close()}>Close</button></div>`);
      return;
    }
    const dialog = openDialog(['Delete ', text(name), '?'], () => [
      html`<p>The strategies that toggles have there are deleted with it. This cannot be undone.</p>`,
      form({
        submit: 'Delete environment', busy: 'Deleting…', danger: true, cancel: () => dialog.close(),
        async send() {
          await call('DELETE', `${path}/${encodeURIComponent(name)}`).catch((error) => {
            if (error.status !== 404) throw error; // it is gone already
          });
          dialog.close();
          announce(`Environment ${name} deleted.`);
          await load();
          focusOn('.head button');
        },
      }),
    ]);
  }
}

const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

/** The address of the list of toggles that are on in an environment. */
const whereOn = ({ name }) => listAddress({ status: `${name}:enabled` });

/**
 * @param {{content: Object, etag: string}|null} opened the environment to change, null to create one
 * @param {(name: string, isNew: boolean) => void} saved
 */
function openEditor(opened, saved) {
  const environment = opened?.content;
  const changes = element(html`<div></div>`);
  const controls = {
    ...!environment && { name: element(html`<input name="name" autocomplete="off" spellcheck="false" required>`) },
    type: element(html`<input name="type" autocomplete="off" spellcheck="false" required list="environment-types" value=${environment?.type ?? ''}>`),
    sortOrder: element(html`<input name="sortOrder" inputmode="numeric" autocomplete="off" value=${environment?.sortOrder ?? ''}>`),
    requiredApprovals: element(html`<input name="requiredApprovals" inputmode="numeric" autocomplete="off" value=${environment?.requiredApprovals ?? ''}>`),
  };
  const dialog = openDialog(environment ? ['Edit ', text(environment.name)] : 'Create an environment', () => [
    form({ submit: environment ? 'Save' : 'Create environment', busy: 'Saving…', cancel: () => draft.leave(), send },
      changes,
      controls.name ? field('Name', controls.name, 'Up to 100 letters, digits and . _ ~ -. The name cannot be changed later.') : nothing,
      field('Type', controls.type, 'In those of the type production, changes of toggles that are on are confirmed first.'),
      html`<datalist id="environment-types">${proposals.map((value) => html`<option value=${value}></option>`)}</datalist>`,
      field('Order', controls.sortOrder, environment ? 'A whole number: environments are shown in this order.' : 'A whole number. Empty: after all others.'),
      field('Approvals', controls.requiredApprovals, `How many approvals changes need in each project at least, up to ${mostApprovals}. Empty: each project decides.`)),
  ], undefined, () => draft.leave());
  const draft = keepControls(dialog, controls, {
    kind: 'environment', about: environment?.name ?? null, title: environment ? `changes of the environment ${environment.name}` : 'a new environment',
  });
  (controls.name ?? controls.type).focus();

  async function send() {
    const order = controls.sortOrder.value.trim();
    const approvals = controls.requiredApprovals.value.trim();
    const body = { type: controls.type.value.trim(), ...order !== '' && { sortOrder: Number(order) }, requiredApprovals: approvals === '' ? null : Number(approvals) };
    const name = environment?.name ?? controls.name.value.trim();
    if (!environment) checkName(name);
    if (body.type === '') throw new FieldError('type', 'Enter a type, such as test.');
    if (order !== '' && !/^-?\d+$/.test(order)) throw new FieldError('sortOrder', 'Enter a whole number.');
    if (approvals !== '' && !(/^\d+$/.test(approvals) && Number(approvals) >= 1 && Number(approvals) <= mostApprovals)) {
      throw new FieldError('requiredApprovals', `Enter a whole number from 1 to ${mostApprovals}.`);
    }
    if (opened) {
      const answer = await save(`${path}/${encodeURIComponent(name)}`, body, opened, labels, `${path}/update/${encodeURIComponent(name)}`);
      if (answer.now) {
        show(mergeForm({ before: opened.content, mine: body, theirs: answer.now.content, labels, write: writer(controls) }), changes);
        opened = answer.now;
        return;
      }
    } else await call('POST', path, { name, ...body });
    draft.done();
    forgetProtections();
    saved(name, !environment);
  }
}
