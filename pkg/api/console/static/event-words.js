// Events in words.

import { counted } from './dom.js';
import { phrases, types } from './event-types.js';
import { exactTime } from './time.js';
import { constraintWords, dependencyWords, strategyWords, variantWords } from './words.js';

/** The types whose words in the console are not those of the API: pages say what is to be done with toggles. */
const ownPhrases = {
  'feature-stale-on': 'marked %s for removal',
  'feature-stale-off': 'unmarked %s',
};
const ownLabels = {
  'feature-stale-on': 'Toggle marked for removal',
  'feature-stale-off': 'Toggle unmarked',
  'feature-potentially-stale-on': 'Toggle became overdue',
  'feature-potentially-stale-off': 'Toggle is no longer overdue',
};

/** The labels of types, by the groups of types. */
export const labels = Object.fromEntries(Object.entries(types).map(([group, all]) => [group, { ...all, ...Object.fromEntries(
  Object.keys(all).filter((type) => type in ownLabels).map((type) => [type, ownLabels[type]])) }]));

/** Why a toggle is no longer overdue. */
const reasons = {
  'lifetime-changed': 'the lifetime of its type was changed',
  archived: 'it was archived',
  'marked-stale': 'it was marked for removal',
  'type-changed': 'it has another type',
  deleted: 'it was deleted',
};

/** The kind and the ID of a subject such as "toggle:checkout". */
export function subjectParts(subject) {
  const at = subject.indexOf(':');
  return [subject.slice(0, at), subject.slice(at + 1)];
}

/** What people call the subject of an event: its name, if it has one. */
function subjectName({ subject, data, preData }, typeName) {
  const [kind, id] = subjectParts(subject);
  if (kind === 'type') return typeName(id);
  if (['toggle', 'field', 'environment'].includes(kind)) return id;
  for (const known of [data, preData]) {
    for (const name of ['username', 'name', 'tokenName', 'title', 'description']) if (typeof known?.[name] === 'string' && known[name] !== '') return known[name];
  }
  return id;
}

/** What kinds of subjects are called in histories. */
const kinds = { pat: 'token', 'api-token': 'API token', 'client-token': 'API token', account: 'service account', type: 'toggle type', field: 'context field', 'tag-type': 'tag type' };

/** A subject such as "toggle checkout". */
export function subjectWords(subject, typeName = (id) => id) {
  const [kind, id] = subjectParts(subject);
  return `${kinds[kind] ?? kind} ${kind === 'type' ? typeName(id) : id}`;
}

const inDays = (days) => (days === null ? 'never' : counted(days, 'day'));

/**
 * An event as a sentence, in its parts.
 * @param {Object} event
 * @param {(id: string) => string} typeName
 * @returns {{who: string, before: string, subject: string, after: string}} `who` is empty if the sentence has another beginning
 */
export function sentence(event, typeName) {
  const words = plainSentence(event, typeName);
  const permitted = event.skippedChangeRequest ? ', without a change request' : event.turnedOff ? ', as is allowed without a change request' : '';
  return { ...words, after: words.after + permitted };
}

/** The sentence of an event without how the change was permitted. */
function plainSentence(event, typeName) {
  const subject = subjectName(event, typeName);
  const who = event.createdBy;
  const { data, preData } = event;
  switch (event.type) {
    case 'feature-type-updated': {
      const from = preData.lifetimeDays !== null && data.lifetimeDays !== null ? preData.lifetimeDays.toLocaleString('en') : inDays(preData.lifetimeDays);
      return { who, before: 'changed the lifetime of', subject, after: `from ${from} to ${inDays(data.lifetimeDays)}` };
    }
    case 'feature-tagged': return { who, before: `added the tag ${data.type}:${data.value} to`, subject, after: '' };
    case 'feature-untagged': return { who, before: `removed the tag ${preData.type}:${preData.value} from`, subject, after: '' };
    case 'feature-link-added': return { who, before: `added the link ${data.title ?? data.url} to`, subject, after: '' };
    case 'feature-link-updated': return { who, before: `changed the link ${preData.title ?? preData.url} of`, subject, after: `to ${data.title ?? data.url}` };
    case 'feature-link-removed': return { who, before: `removed the link ${preData.title ?? preData.url} from`, subject, after: '' };
    case 'feature-potentially-stale-on': return { who: '', before: '', subject, after: 'became overdue' };
    case 'feature-potentially-stale-off': return { who: '', before: '', subject, after: `is no longer overdue: ${reasons[data?.reason] ?? data?.reason}` };
    case 'change-request-configuration-updated': return { who, before: `changed the protection of ${event.environment} in the project`, subject, after: '' };
    case 'environment-freeze-set': return { who, before: `froze ${frozen(event)}`, subject, after: `from ${exactTime(data.from)} until ${exactTime(data.until)}: ${data.reason}` };
    case 'environment-freeze-removed': return { who, before: `ended the freeze of ${frozen(event)}`, subject, after: '' };
    case 'change-request-scheduled': return { who, before: 'scheduled the change request', subject, after: `for ${exactTime(data.schedule.scheduledAt)}` };
    case 'change-request-schedule-suspended': return { who: '', before: 'The change request', subject, after: `was not applied at its time: ${data.schedule.reason}` };
    case 'change-request-schedule-failed': return { who: '', before: 'The change request', subject, after: `could not be applied at its time: ${data.schedule.reason}` };
    case 'token-expiring': return { who: '', before: 'The token', subject, after: `expires in at most ${inDays(data.days)}` };
    default: {
      const [before, after = ''] = (ownPhrases[event.type] ?? phrases[event.type]?.replace('the toggle %s', '%s') ?? `${event.type}: %s`).split('%s').map((part) => part.trim());
      const where = event.environment && event.featureName ? `in ${event.environment}` : '';
      return { who, before, subject: phrases[event.type]?.includes('%s') === false ? '' : subject, after: [after, where].filter(Boolean).join(' ') };
    }
  }
}

/** What is frozen, before the name of the subject of an event. */
const frozen = ({ environment, project }) => (project ? `the environment ${environment} of the project` : 'the environment');

/** The names of the properties that differ before and after an event. */
export const changedNames = ({ data, preData }) => [...new Set([...Object.keys(preData ?? {}), ...Object.keys(data ?? {})])]
  .filter((name) => JSON.stringify(preData?.[name]) !== JSON.stringify(data?.[name]));

/**
 * What an event is about, besides its sentence: a short text, which is empty if there is nothing to say.
 * @param {Object} event
 * @param {(id: string) => string} typeName
 * @param {(id: number) => string} segmentName
 */
export function summary(event, typeName, segmentName) {
  const { type, data, preData } = event;
  const strategy = (it) => (it?.parameters && it.segments && it.constraints ? loggedStrategy(it, segmentName) : '');
  switch (type) {
    case 'feature-type-updated': return '';
    case 'feature-strategy-add': case 'feature-strategy-remove': return strategy(data ?? preData);
    case 'feature-strategy-update': return strategyChange(strategy, preData, data);
    case 'api-token-created': case 'api-token-deleted': return tokenWords(data ?? preData);
    case 'api-token-rotated': return [tokenWords(data), data?.validUntil && `old secret valid until ${moment(data.validUntil)}`].filter(Boolean).join(', ');
    case 'feature-dependency-added': case 'feature-dependency-removed': return data?.feature ? dependencyWords(data) : '';
    case 'feature-potentially-stale-on': return data?.lifetimeDays ? `older than ${inDays(data.lifetimeDays)}, the lifetime of ${typeName(data.featureType)}` : '';
    default: {
      if (!type.endsWith('-updated') || !data || !preData) return '';
      const changes = changedNames(event).map((name) => `${propertyName(name)} ${change(preData[name], data[name], name === 'type' ? typeName : undefined)}`);
      return [type === 'api-token-updated' && tokenWords(data), ...changes].filter(Boolean).join(', ');
    }
  }
}

/** A strategy in the log, which has the length of a list instead of one that is too long. */
function loggedStrategy(strategy, segmentName) {
  const list = (it) => (Array.isArray(it) ? it : []);
  const { segments, constraints } = strategy;
  const isWhole = Array.isArray(segments) && Array.isArray(constraints);
  return `${strategyWords({ ...strategy, segments: list(segments), constraints: list(constraints) }, segmentName)}${isWhole ? '' : ', with conditions that are too long for the log'}`;
}

/** What has changed in a strategy: its sentence before and after, and what is not part of the sentence. */
function strategyChange(strategy, before, after) {
  const [from, to] = [strategy(before), strategy(after)];
  const others = strategyParts(before, after).map(({ name, from: old, to: now }) => (
    name === '' ? now : `${name} ${[...new Set([old, now])].join(' → ')}`)).join(', ');
  const sentences = from === '' || from === to ? to : `${from} → ${to}`;
  return [sentences, others].filter(Boolean).join(': ');
}

/**
 * What differs in a strategy that is not part of its sentence. The part without a name is whether it takes part.
 * @returns {Array<{name: string, from: string, to: string}>}
 */
export function strategyParts(before, after) {
  const part = (name, value, words = (it) => it) => {
    const [old, now] = [value(before), value(after)];
    return JSON.stringify(old) === JSON.stringify(now) ? [] : [{ name, from: words(old) || 'none', to: words(now) || 'none' }];
  };
  return [
    ...part('', (it) => Boolean(it?.disabled), (disabled) => (disabled ? 'disabled' : 'enabled')),
    ...part('title', (it) => it?.title ?? null),
    ...part('variants', (it) => it?.variants ?? [], (variants) => (Array.isArray(variants) ? variantWords(variants) : `${variants.length} variants`)),
    ...part('group id', (it) => it?.parameters?.groupId ?? null),
  ];
}

/** What a token of applications is for: "frontend, production, shop". Empty for other tokens. */
function tokenWords(token) {
  if (!token?.environment) return '';
  const { type, environment, projects } = token;
  return [type === 'client' ? 'backend' : type, environment, projects.includes('*') ? 'all projects' : projects.join(', ')].join(', ');
}

/** A property such as "impression data". */
const propertyName = (name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

/** A value as it is, or a date-time as the pages show it. */
const moment = (value) => (/^\d{4}-\d\d-\d\dT/.test(value) ? exactTime(value) : value);

/** A changed value in a few words. */
function change(before, after, nameOf = (value) => value) {
  if ([before, after].some((value) => typeof value === 'object' && value !== null && !('name' in value))) return 'changed';
  const name = (value) => (value === null || value === undefined || value === '' ? 'none' : moment(inline(typeof value === 'object' ? value.name : nameOf(value))));
  return `${name(before)} → ${name(after)}`;
}

/** A JSON value in one line. */
export function inline(it) {
  if (it === null || it === undefined || it === '') return 'none';
  if (Array.isArray(it)) return it.length === 0 ? 'none' : it.map(inline).join('; ');
  if (typeof it === 'boolean') return it ? 'yes' : 'no';
  if (typeof it !== 'object') return String(it);
  if ('contextName' in it && 'operator' in it) return constraintWords(it);
  if ('value' in it) return inline(it.value) + (it.description ? ` (${it.description})` : '');
  return Object.entries(it).map(([name, member]) => `${name}: ${inline(member)}`).join(', ');
}
