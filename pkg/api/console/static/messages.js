// Messages of the API in the words of forms. This module imports nothing.

/** What the message for an empty value asks for, by the last part of the property. */
const nouns = {
  name: 'a name', tokenName: 'a name', username: 'a user name', description: 'a description', type: 'a type', email: 'an e-mail address',
};

/**
 * Splits the message of a rejected request by the property or parameter that each sentence names.
 * @param {{status?: number, message: string}} error
 * @returns {Array<{name: string|undefined, message: string}>} `name` is the pointer into the body, such as `constraints/0/values/1`
 */
export function sentences({ status, message }) {
  const found = status === 400 ? message.split(/ (?=The `\/(?:body|query|params)\/)/) : [message];
  return found.map((sentence) => ({ name: /^The `\/(?:body|query|params)\/([^`]*)`/.exec(sentence)?.[1], message: sentence }));
}

/**
 * A message of the API about one value, in the words of the form.
 * @param {string} message
 * @param {string} [label] of the control, away from it
 */
export function inWords(message, label) {
  const [, pointer, must, sent] = /^The `\/(?:body|query|params)\/([^`]*)` (?:property|parameter) must (.*?)(?:; you sent (.*))?\.$/s.exec(message) ?? [];
  const words = must && ruleInWords(must, sent, pointer);
  if (words) return label ? `${label}: ${words}` : words;
  return message
    .replace(/^The `[^`]*` (?:property|parameter) /, label ? `${label}: the value ` : 'The value ')
    .replace(/; you sent (?:""|nothing)\.$/, '.')
    .replace(/; you sent "IS:/, '; you sent "');
}

/** What a rule asks for, or undefined if the words of the API are those of the form. */
function ruleInWords(must, sent, pointer) {
  const property = pointer.split('/').findLast((part) => !/^\d+$/.test(part));
  if (/have 1 or more characters/.test(must) && [undefined, '""', 'nothing'].includes(sent)) return `Enter ${nouns[property] ?? 'a value'}.`;
  if (/have 1 or more elements/.test(must)) return 'Enter at least one value.';
  if (/have only the characters A-Z a-z 0-9 \. _ ~ -/.test(must)) return nameRule(sent);
  if (must === 'be an integer') return 'Enter a whole number.';
  if (must === 'be a number') return 'Enter a number.';
  const [, most, of] = /^have at most (\d+) (characters|elements)$/.exec(must) ?? [];
  if (most) return `At most ${Number(most).toLocaleString('en')} ${of === 'elements' ? 'values' : of} are possible.`;
  return undefined;
}

/** The rule for names, with a name that is similar to what was sent. */
function nameRule(sent) {
  const similar = (sent ?? '').replace(/^"|"$/g, '').replace(/[^\w.~-]+/g, '-').replace(/^-+|-+$/g, '');
  return `A name has letters, digits and . _ ~ - only${/^\.{0,2}$/.test(similar) ? '' : `, such as ${similar}`}.`;
}
