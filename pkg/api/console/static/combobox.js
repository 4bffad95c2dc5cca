// Inputs that propose choices: the pattern "combobox with list autocomplete" of the ARIA Authoring Practices Guide.

import { setError, uniqueId } from './dom.js';
import { fold } from './search.js';
import { element, html, nothing, render, repeat } from './template.js';

const mostShown = 50; // choices; what is entered finds others

const answers = new WeakMap(); // by input: the promise of its newest choices

const leaves = new WeakMap(); // by input: what it does when the focus leaves it

const rejected = new WeakSet(); // inputs with a text that is no choice

/**
 * Waits for the choices that the comboboxes in a part of the page look for: what was entered may be one of them. Reports whether each has one,
 * and shows errors at the others.
 */
export async function settled(place) {
  const inputs = [...place.querySelectorAll('[role=combobox]')];
  await Promise.allSettled(inputs.map((input) => answers.get(input)));
  for (const input of inputs) leaves.get(input)(); // Enter may have sent the form
  const unknown = inputs.filter((input) => rejected.has(input));
  for (const input of unknown) setError(input, `Nothing matches “${input.value.trim()}”.`);
  unknown[0]?.focus();
  return unknown.length === 0;
}

/**
 * Makes a combobox of an input.
 * @param {HTMLInputElement} input
 * @param {Object} options
 * @param {(text: string) => Choice[]|Promise<Choice[]>} options.choices what matches a text, or all for an empty text
 * @param {(value: string) => void} [options.choose] called after a choice, or after the input was emptied
 * @param {boolean} [options.free] other texts than the choices are values, too
 * @returns {{element: HTMLElement, set: (value: string, label?: string) => void, isEdited: () => boolean}} the input with its list, a function
 *   that sets the value, and one that reports whether the user has entered something else
 * @typedef {{value: string, label: string, detail?: string}} Choice
 */
export function combobox(input, { choices, choose = () => {}, free = false }) {
  const list = element(html`<ul role="listbox" id=${uniqueId()} hidden aria-label="Choices"></ul>`);
  const box = element(html`<div class="combobox">${input}${list}</div>`);
  const attributes = { role: 'combobox', 'aria-controls': list.id, 'aria-autocomplete': 'list', autocomplete: 'off', spellcheck: 'false', dir: 'auto' };
  for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
  let current = { value: input.value, label: input.value };
  let found = []; // the choices in the list
  let others = 0; // the number of those that are not shown
  let active = -1; // the index of the choice that Enter takes
  let open = false;
  let turn = 0; // of the newest request for choices
  let pending = false; // the newest request is not answered yet
  let entered = false; // Enter was pressed meanwhile
  let left = false; // the focus has left the input meanwhile

  input.addEventListener('click', () => open || showAll());
  input.addEventListener('input', () => show(input.value));
  input.addEventListener('blur', leave);
  leaves.set(input, leave);
  input.addEventListener('keydown', onKey);
  draw();
  return { element: box, set, isEdited: () => input.value !== current.label };

  function set(value, label = value) {
    current = { value, label };
    input.value = label;
    accept();
    close();
  }

  async function showAll() {
    const request = turn + 1;
    await show('');
    if (!open || request !== turn) return; // something was entered meanwhile
    active = found.findIndex(({ value }) => value === current.value);
    draw();
  }

  /** Shows the choices for a text. */
  function show(text) {
    const answer = look(text);
    answers.set(input, answer);
    return answer;
  }

  async function look(text) {
    turn += 1;
    const request = turn;
    accept();
    pending = true;
    entered = false;
    left = false;
    const result = await choices(text.trim());
    if (request !== turn) return;
    pending = false;
    found = result.slice(0, mostShown);
    others = result.length - found.length;
    open = true;
    active = text.trim() !== '' && !free && found.length > 0 ? 0 : -1;
    if (entered && active >= 0) take(found[active]);
    else if (left) leave();
    entered = false;
    draw();
  }

  function onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (!open) {
        showAll();
        return;
      }
      if (found.length > 0) active = (active + step + found.length + (active < 0 && step < 0 ? 1 : 0)) % found.length;
      draw();
    } else if (event.key === 'Enter' && pending && !free && input.value.trim() !== '') {
      event.preventDefault();
      entered = true; // the choice is taken when it is found
    } else if (event.key === 'Enter' && open && active >= 0) {
      event.preventDefault();
      take(found[active]);
    } else if (event.key === 'Enter' && !free && input.value.trim() === '') {
      event.preventDefault();
      take({ value: '', label: '' });
    } else if (event.key === 'Escape' && open) {
      event.preventDefault();
      event.stopPropagation(); // the dialog stays open
      if (!free) input.value = current.label;
      accept();
      close();
    }
  }

  function take(choice) {
    set(choice.value, choice.label);
    choose(choice.value);
    if (free) input.dispatchEvent(new Event('input', { bubbles: true }));
    close();
  }

  /** Takes what was entered if it is a choice, when the focus leaves the input. Otherwise that is decided when the choices are found. */
  function leave() {
    if (pending && !free) {
      left = true;
      return;
    }
    const text = input.value.trim();
    const choice = found.find(({ value, label }) => fold(label) === fold(text) || fold(value) === fold(text));
    close();
    if (free || text === current.label) return;
    if (text === '') take({ value: '', label: '' });
    else if (choice) take(choice);
    else if (input.form && !input.closest('[role=search]')) rejected.add(input); // saving the form says so
    else input.value = current.label;
  }

  function accept() {
    if (rejected.delete(input)) setError(input, '');
  }

  function close() {
    turn += 1;
    pending = false;
    entered = false;
    left = false;
    open = false;
    active = -1;
    draw();
  }

  function draw() {
    list.hidden = !open || (found.length === 0 && (free || input.value.trim() === ''));
    input.setAttribute('aria-expanded', String(!list.hidden));
    if (active >= 0) input.setAttribute('aria-activedescendant', `${list.id}-${active}`);
    else input.removeAttribute('aria-activedescendant');
    const option = (choice, i) => html`
      <li role="option" id="${list.id}-${i}" aria-selected=${i === active ? 'true' : 'false'}
        @pointerdown=${(event) => event.preventDefault()} @click=${() => take(choice)}>
        <bdi>${choice.label}</bdi>${choice.detail ? html` <small>${choice.detail}</small>` : nothing}
      </li>`;
    const note = (text) => html`<li role="option" aria-disabled="true" aria-selected="false">${text}</li>`;
    render(!open ? nothing : found.length === 0 ? note('Nothing matches')
      : [repeat(found, ({ value }) => value, option), others > 0 ? note(`${others.toLocaleString('en')} more. Type to find them.`) : nothing], list);
    if (active >= 0) list.children[active]?.scrollIntoView({ block: 'nearest' });
  }
}

/** Returns the choices whose label contains a text, in any letter case and Unicode form. Those that begin with it are first. */
export function matching(choices, text) {
  const part = fold(text);
  const begins = ({ label }) => fold(label).startsWith(part);
  const all = choices.filter(({ label }) => fold(label).includes(part));
  return [...all.filter(begins), ...all.filter((choice) => !begins(choice))];
}
