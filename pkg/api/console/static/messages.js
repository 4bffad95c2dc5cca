// What forms say about values that the API rejects. This module imports nothing.

/**
 * A place of a request that is invalid: errorDetailSchema of the API.
 * @typedef {{path: string, keyword?: string, limit?: number, message: string}} Detail
 */

/** What is asked for if a value is missing, by the last part of its path. */
const nouns = {
  name: 'a name', tokenName: 'a name', username: 'a user name', description: 'a description', type: 'a type', email: 'an e-mail address',
};

/** The path of a detail in the body, the query or the path of the request, such as `constraints/0/values/1`. */
export const placeOf = ({ path }) => path.replace(/^\/[a-z]+\/?/, '');

/**
 * A rejected value in the words of a form.
 * @param {Detail} detail
 */
export function inWords({ path, keyword, limit, message }) {
  const property = path.split('/').findLast((part) => !/^\d+$/.test(part));
  if (keyword === 'required' || (keyword === 'minLength' && limit === 1)) return `Enter ${nouns[property] ?? 'a value'}.`;
  if (keyword === 'minItems' && limit === 1) return 'Enter at least one value.';
  if (keyword === 'minimum') return `The lowest possible value is ${limit.toLocaleString('en')}.`;
  if (keyword === 'maximum') return `The highest possible value is ${limit.toLocaleString('en')}.`;
  if (keyword === 'maxLength') return `At most ${limit.toLocaleString('en')} characters are possible.`;
  if (keyword === 'maxItems') return `At most ${limit.toLocaleString('en')} values are possible.`;
  return message;
}

/** Says which characters the name of a toggle, a field or an environment can have, and proposes one that is like it. */
export function wrongName(name) {
  const similar = name.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[^\w.~-]+/g, '-').replace(/^-+|-+$/g, '');
  return `A name has letters, digits and . _ ~ - only${/^\.{0,2}$/.test(similar) ? '.' : `, such as ${similar}.`}`;
}
