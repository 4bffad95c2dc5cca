// How the state of a toggle in an environment changes, in the words of the event log.

import { text } from './dom.js';
import { strategyParts } from './event-words.js';
import { html, nothing } from './template.js';
import { dependencyWords, onFor, strategyWords } from './words.js';

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * One thing that changes. An empty `from` is added, and an empty `to` is removed.
 * @typedef {{label: string, from: string, to: string}} Line
 */

/** The template of a line: what was, and what will be. */
export const lineWords = ({ label, from, to }) => html`${label}${from === '' ? nothing : html`<del>${text(from)}</del>`}${from === '' || to === '' ? nothing : ' → '}${
  to === '' ? nothing : html`<ins>${text(to)}</ins>`}`;

/**
 * What is different in two states of a toggle in an environment: the strategies, their order and the switch.
 * @param {{enabled: boolean, strategies: Object[]}} before
 * @param {{enabled: boolean, strategies: Object[]}} after
 * @param {string} environment
 * @param {(id: number) => string} segmentName
 * @returns {Line[]}
 */
export function stateLines(before, after, environment, segmentName) {
  const words = (strategy) => strategyWords(strategy, segmentName) + (strategy.disabled ? ' (disabled)' : '');
  const old = new Map(before.strategies.map((strategy) => [strategy.id, strategy]));
  const kept = new Set(after.strategies.map(({ id }) => id));
  const lines = after.strategies.flatMap((strategy) => (old.has(strategy.id) ? strategyLines(old.get(strategy.id), strategy, segmentName)
    : [{ label: 'Strategy: ', from: '', to: words(strategy) }]));
  for (const strategy of before.strategies) if (!kept.has(strategy.id)) lines.push({ label: 'Strategy: ', from: words(strategy), to: '' });
  const ids = ({ strategies }, others) => strategies.map(({ id }) => id).filter((id) => others.has(id));
  if (!same(ids(before, kept), ids(after, old))) lines.push({ label: 'Order: ', from: '', to: after.strategies.map(words).join('; ') });
  if (before.enabled !== after.enabled) lines.push({ label: `${environment}: `, from: switchWords(before, segmentName), to: switchWords(after, segmentName) });
  return lines;
}

/** For whom a toggle is on: "on for Everyone", or "off". */
const switchWords = ({ enabled, strategies }, segmentName) => (enabled ? `on for: ${onFor(strategies, segmentName).join('; ')}` : 'off');

/** The line of a toggle that is archived while it is on in an environment. */
export const archivedLine = (environment) => ({ label: `${environment}: `, from: 'on', to: 'archived, off for everyone' });

/** The line of another dependency of a toggle. Undefined: none. */
export function dependencyLine(before, after) {
  const words = (dependency) => (dependency ? dependencyWords(dependency) : 'no dependency');
  return { label: 'Only if: ', from: words(before), to: words(after) };
}

/** @returns {Line[]} */
function strategyLines(before, after, segmentName) {
  const [from, to] = [before, after].map((strategy) => strategyWords(strategy, segmentName));
  const label = (name) => (name === '' ? `Strategy “${to}”: ` : `${name[0].toUpperCase()}${name.slice(1)} of the strategy “${to}”: `);
  return [
    ...from === to ? [] : [{ label: 'Strategy: ', from, to }],
    ...strategyParts(before, after).map((part) => ({ label: label(part.name), from: part.from, to: part.from === part.to ? `${part.to}, with other values` : part.to })),
  ];
}
