// The secret of a new token, which is shown once.

import { field, showIn } from './dialog.js';
import { text, uniqueId } from './dom.js';
import { element, html, nothing } from './template.js';

/** A command that tries a token, which is in a variable: a secret in a command stays in the history of the shell. */
export const tryCommand = (url) => `curl -H "Authorization: $TOKEN" ${url}`;

/**
 * Shows the secret of a new token in the dialog that has created it.
 * @param {HTMLDialogElement} dialog
 * @param {{secret: string, name: string, command: string|null}} token `command` is a command to try the token with
 * @param {...unknown} more shown below it
 * @returns {() => void} closes the dialog, unless nobody has copied the secret yet
 */
export function showSecret(dialog, { secret, name, command }, ...more) {
  const value = element(html`<textarea readonly rows="3" spellcheck="false" class="secret" dir="ltr" .value=${secret} @copy=${() => { copied = true; }}></textarea>`);
  const code = element(html`<code id=${uniqueId()} class="curl" dir="ltr">${command}</code>`);
  const state = element(html`<span role="status"></span>`);
  const warning = element(html`<p class="error" role="alert"></p>`);
  const copyButton = (source, about) => html`<button type="button" class=${source === value ? 'primary' : nothing} @click=${() => copy(source)}>Copy${
    about ? html`<span class="visually-hidden"> ${about}</span>` : nothing}</button>`;
  let copied = false;
  showIn(dialog, 'Copy the token now', html`
    <p>The token <strong>${text(name)}</strong> was created.</p>
    <p class="notice warn">This is the only time that the secret is shown. Store it where the tool that needs it can read it, and nowhere else.</p>
    ${field('Secret', value)}
    <div class="buttons">${copyButton(value)}${state}</div>
    ${command ? html`<p class="hint">Try it. First enter <code>read -rs TOKEN</code> in the shell, and paste the secret:</p>
      <div class="try">${code}${copyButton(code, 'the curl command')}</div>` : nothing}
    ${more}
    ${warning}
    <div class="buttons"><button type="button" @click=${done}>Done</button></div>`);
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
