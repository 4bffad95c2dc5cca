// Environments: the list, and the dialogs that create, change and delete one.

import { call, read } from '../api.js';
import { draftFor, keepControls, mergeForm, save, writer } from '../draft.js';
import { FieldError, append, counted, failure, field, form, h, loading, once, openDialog, replace, row, table, text } from '../dom.js';
import { environmentName, loadEnvironments } from '../environment.js';
import { render as show } from '../template.js';
import { listAddress } from '../toggle.js';

const path = '/api/admin/environments';
const labels = { type: 'Type', sortOrder: 'Order' };
const proposals = ['development', 'test', 'preproduction', 'production'];

export async function render(content, { may, signal, announce, setActions }) {
  const list = h('div', null, loading('the environments'));
  const create = may('ADMIN') && h('button', { type: 'button', class: 'primary', onclick: () => openEditor(null, saved) }, 'Create environment');
  setActions(create);
  append(content,
    h('p', { class: 'lead' }, 'Each toggle has a switch and strategies of its own in each environment. In an environment of the type production, ',
      'a switch asks before it changes.'),
    list);
  let environments = [];
  await load();
  const continued = draftFor('environment');
  if (continued) await edit({ name: continued });
  else if (continued === null) openEditor(null, saved);

  async function load() {
    try {
      environments = await loadEnvironments(signal);
    } catch (error) {
      if (!signal.aborted) replace(list, failure(error, load));
      return;
    }
    if (environments.length === 0) {
      replace(list, h('p', { class: 'empty' }, 'There are no environments.'));
      return;
    }
    const columns = ['Name', 'Type', 'Order', 'Toggles that are on', ...may('ADMIN') ? [{ name: 'Actions', class: 'actions' }] : []];
    replace(list, table('Environments', columns, environments.map((environment) => {
      const label = h('span');
      show(environmentName(environment), label);
      const about = () => h('span', { class: 'visually-hidden' }, ' environment ', text(environment.name));
      return row(columns, [
        label,
        text(environment.type),
        environment.sortOrder,
        environment.enabledToggleCount === 0 ? '0' : h('a', { href: whereOn(environment) },
          environment.enabledToggleCount.toLocaleString('en'), h('span', { class: 'visually-hidden' },
            environment.enabledToggleCount === 1 ? ' toggle is on in ' : ' toggles are on in ', text(environment.name))),
        ...may('ADMIN') ? [[
          h('button', { type: 'button', onclick: once(() => edit(environment)) }, 'Edit', about()),
          h('button', { type: 'button', class: 'danger quiet', onclick: () => remove(environment) }, 'Delete', about()),
        ]] : [],
      ]);
    })));
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
    create.focus();
  }

  function remove(environment) {
    const { name, enabledToggleCount: count } = environment;
    if (count > 0) {
      const refusal = openDialog([text(name), ' cannot be deleted'], () => [
        h('p', null, `${counted(count, 'toggle')} ${count === 1 ? 'is' : 'are'} on there. Turn ${count === 1 ? 'it' : 'them'} off first.`),
        h('div', { class: 'buttons' },
          h('a', { class: 'button', href: whereOn(environment) }, 'Show them'),
          h('button', { type: 'button', onclick: () => refusal.close() }, 'Close')),
      ]);
      return;
    }
    const dialog = openDialog(['Delete ', text(name), '?'], () => [
      h('p', null, 'The strategies that toggles have there are deleted with it. This cannot be undone.'),
      form({
        submit: 'Delete environment', busy: 'Deleting…', danger: true, cancel: () => dialog.close(),
        async send() {
          await call('DELETE', `${path}/${encodeURIComponent(name)}`).catch((error) => {
            if (error.status !== 404) throw error; // it is gone already
          });
          dialog.close();
          announce(`Environment ${name} deleted.`);
          await load();
          create.focus();
        },
      }),
    ]);
  }
}

/** The address of the list of toggles that are on in an environment. */
const whereOn = ({ name }) => listAddress({ status: `${name}:enabled` });

/**
 * @param {{content: Object, etag: string}|null} opened the environment to change, null to create one
 * @param {(name: string, isNew: boolean) => void} saved
 */
function openEditor(opened, saved) {
  const environment = opened?.content;
  const changes = h('div');
  const controls = {
    ...!environment && { name: h('input', { name: 'name', autocomplete: 'off', spellcheck: 'false', required: true }) },
    type: h('input', { name: 'type', autocomplete: 'off', spellcheck: 'false', required: true, list: 'environment-types', value: environment?.type ?? '' }),
    sortOrder: h('input', { name: 'sortOrder', inputmode: 'numeric', autocomplete: 'off', value: environment?.sortOrder ?? '' }),
  };
  const dialog = openDialog(environment ? ['Edit ', text(environment.name)] : 'Create an environment', () => [
    form({ submit: environment ? 'Save' : 'Create environment', busy: 'Saving…', cancel: () => draft.leave(), send },
      changes,
      controls.name && field('Name', controls.name, 'Up to 100 letters, digits and . _ ~ -. The name cannot be changed later.'),
      field('Type', controls.type, 'In those of the type production, switches ask before they change.'),
      h('datalist', { id: 'environment-types' }, proposals.map((value) => h('option', { value }))),
      field('Order', controls.sortOrder, environment ? 'A whole number: environments are shown in this order.' : 'A whole number. Empty: after all others.')),
  ], undefined, () => draft.leave());
  const draft = keepControls(dialog, controls, {
    kind: 'environment', about: environment?.name ?? null, title: environment ? `changes of the environment ${environment.name}` : 'a new environment',
  });
  (controls.name ?? controls.type).focus();

  async function send() {
    const order = controls.sortOrder.value.trim();
    const body = { type: controls.type.value.trim(), ...order !== '' && { sortOrder: Number(order) } };
    if (controls.name && controls.name.value.trim() === '') throw new FieldError('name', 'Enter a name.');
    if (body.type === '') throw new FieldError('type', 'Enter a type, such as test.');
    if (order !== '' && !/^-?\d+$/.test(order)) throw new FieldError('sortOrder', 'Enter a whole number.');
    const name = environment?.name ?? controls.name.value.trim();
    try {
      if (opened) {
        const answer = await save(`${path}/${encodeURIComponent(name)}`, body, opened, labels, `${path}/update/${encodeURIComponent(name)}`);
        if (answer.now) {
          replace(changes, mergeForm({ before: opened.content, mine: body, theirs: answer.now.content, labels, write: writer(controls) }));
          opened = answer.now;
          return;
        }
      } else await call('POST', path, { name, ...body });
    } catch (error) {
      if (error.name === 'NameExistsError') throw new FieldError('name', error.message);
      throw error;
    }
    draft.done();
    saved(name, !environment);
  }
}
