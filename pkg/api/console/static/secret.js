// The secret of a new token, which is shown once.

import { field, h, replace, text, uniqueId } from './dom.js';

/** A command that tries a token, which is in a variable: a secret in a command stays in the history of the shell. */
export const tryCommand = (url) => `curl -H "Authorization: $TOKEN" ${url}`;

/**
 * Shows the secret of a new token in the dialog that has created it.
 * @param {HTMLDialogElement} dialog
 * @param {{secret: string, name: string, command: string|null}} token `command` is a command to try the token with
 * @param {...Node} more shown below it
 * @returns {() => void} closes the dialog, unless nobody has copied the secret yet
 */
export function showSecret(dialog, { secret, name, command }, ...more) {
  const value = h('textarea', { readonly: true, rows: '3', spellcheck: 'false', class: 'secret', dir: 'ltr', oncopy: () => { copied = true; } }, secret);
  const code = h('code', { id: uniqueId(), class: 'curl', dir: 'ltr' }, command);
  const state = h('span', { role: 'status' });
  const warning = h('p', { class: 'error', role: 'alert' });
  const copyButton = (label, source, about) => h('button', {
    type: 'button', class: source === value ? 'primary' : null, onclick: () => copy(source),
  }, label, about && h('span', { class: 'visually-hidden' }, about));
  let copied = false;
  replace(dialog,
    h('h2', { id: dialog.getAttribute('aria-labelledby') }, 'Copy the token now'),
    h('p', null, 'The token ', h('strong', null, text(name)), ' was created.'),
    h('p', { class: 'notice warn' }, 'This is the only time that the secret is shown. Store it where the tool that needs it can read it, ' +
      'and nowhere else.'),
    field('Secret', value),
    h('div', { class: 'buttons' }, copyButton('Copy', value), state),
    command && [h('p', { class: 'hint' }, 'Try it. First enter ', h('code', null, 'read -rs TOKEN'), ' in the shell, and paste the secret:'), h('div', { class: 'try' }, code, copyButton('Copy', code, ' the curl command'))],
    more,
    warning,
    h('div', { class: 'buttons' }, h('button', { type: 'button', onclick: done }, 'Done')));
  value.select();
  return leave;

  function leave() {
    if (copied) dialog.close();
    else warn();
  }

  function done() {
    if (copied || warning.textContent !== '') dialog.close(); // the second time, it is on purpose
    else warn();
  }

  function warn() {
    warning.textContent = 'You have not copied the secret, and it cannot be shown again. Copy it, or press “Done” again to close without it.';
    value.select();
  }

  async function copy(source) {
    copied = true;
    warning.textContent = '';
    try {
      await navigator.clipboard.writeText(source === value ? secret : command);
      state.textContent = 'Copied.';
    } catch { // not permitted, or the page does not have a secure origin
      if (source === value) value.select();
      else window.getSelection().selectAllChildren(code);
      state.textContent = 'The browser does not allow it. The text is selected: copy it with the keyboard.';
    }
  }
}
