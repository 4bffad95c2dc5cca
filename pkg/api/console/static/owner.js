// Owners of toggles: their texts in searches, what pages call them, and inputs that propose them.

import { cached } from './cached.js';
import { combobox } from './combobox.js';
import { accountName, findAccounts, loadGroups } from './person.js';
import { fold } from './search.js';
import { element, html } from './template.js';

const fewest = 2; // characters of a search for people
const longest = 30_000; // how long inputs propose the same groups, in milliseconds
const groups = cached(() => loadGroups(), longest);

/** The text of the toggles that have no owner. */
export const noOwner = 'none';

/** The text of an owner in searches, such as "user:7". */
export const ownerText = (owner) => (owner === null ? noOwner : `${owner.kind}:${owner.kind === 'text' ? owner.name : owner.id}`);

/** The owner of a text, as the API takes it. */
export function ownerOf(text) {
  if (text === '' || text === noOwner) return null;
  const at = text.indexOf(':');
  const [kind, value] = [text.slice(0, at), text.slice(at + 1)];
  return kind === 'text' ? { kind, name: value } : { kind, id: Number(value) };
}

const none = { value: noOwner, label: 'No owner' };
const mine = { value: 'me', label: 'You or a group of yours' };
const names = new Map([none, mine].map(({ value, label }) => [value, label])); // of owners that pages have shown, by their texts

/** What an owner is called whose text an address has. */
export const ownerLabel = (text) => names.get(text) ?? (text.startsWith('text:') ? text.slice('text:'.length) : text);

/** Remembers what the owners of toggles are called. */
export function learnOwners(toggles) {
  for (const { owner } of toggles) if (owner) names.set(ownerText(owner), owner.name);
}

/** What is proposed for a text: the user, groups, people, and the text itself. */
async function ownerChoices(text, user) {
  const part = fold(text);
  const [foundGroups, people] = await Promise.all([groups.get().catch(() => []), findPeople(text, user)]);
  const isFound = (name) => fold(name).includes(part);
  const all = [
    ...user && isFound(accountName(user)) ? [{ value: `user:${user.id}`, label: accountName(user), detail: 'you' }] : [],
    ...foundGroups.filter(({ name }) => isFound(name)).map(({ id, name }) => ({ value: `group:${id}`, label: name, detail: 'group' })),
    ...people.filter(({ id }) => id !== user?.id).map((person) => ({ value: `user:${person.id}`, label: accountName(person), detail: person.email ?? 'person' })),
    ...text === '' ? [] : [{ value: `text:${text}`, label: text, detail: 'text' }],
  ];
  for (const { value, label } of all) names.set(value, label);
  return all;
}

/** What is proposed for a filter: also the toggles without an owner, and those of the user and the user's groups. */
export const filterChoices = async (text, user) => [
  ...[none, ...user ? [mine] : []].filter(({ label }) => fold(label).includes(fold(text))), ...await ownerChoices(text, user)];

/** The people that a text finds. The search needs a user. */
async function findPeople(text, user) {
  if (text.length < fewest || !user) return [];
  const found = await findAccounts(text).catch(() => []);
  return found.filter(({ accountType }) => accountType !== 'Service Account');
}

/**
 * Returns an input, and its combobox, that proposes owners. It is empty for none.
 * @param {Object} options
 * @param {Object|null} options.user who proposes themselves first
 * @param {string} [options.value] the text of the owner
 * @param {boolean} [options.filters] toggles without an owner are a choice
 * @param {string} [options.placeholder]
 * @param {(text: string) => void} [options.choose] called after a choice, or after the input was emptied
 * @returns {{input: HTMLInputElement, element: HTMLElement, set: (text: string) => void, value: () => string}}
 */
export function ownerInput({ user, value = '', filters = false, placeholder = '', choose = () => {} }) {
  let current = value;
  const input = element(html`<input name="owner" placeholder=${placeholder} value=${value === '' ? '' : ownerLabel(value)} maxlength="100">`);
  if (filters) input.setAttribute('aria-label', 'Owner');
  const box = combobox(input, {
    choices: (text) => (filters ? filterChoices : ownerChoices)(text, user),
    choose(text) {
      current = text;
      choose(text);
    },
  });
  set(value);
  return { input, element: box.element, set, value: () => current };

  function set(text) {
    current = text;
    box.set(text, text === '' ? '' : ownerLabel(text));
  }
}
