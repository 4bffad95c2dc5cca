// Strategies, constraints and variants in words. This module imports nothing, and knows the forms of the API only.

/** How many values a sentence names. */
const shownValues = 5;

/**
 * The operators of constraints, in the order of choices. `group` is the kind of values; `many` says that a constraint has several; `is` and
 * `isNot` are the words between the field and the values.
 */
export const operators = {
  IN: { group: 'Text', many: true, is: 'is', isNot: 'is not' },
  NOT_IN: { group: 'Text', many: true, is: 'is not', isNot: 'is' },
  STR_CONTAINS: { group: 'Text', many: true, is: 'contains', isNot: 'does not contain' },
  STR_STARTS_WITH: { group: 'Text', many: true, is: 'starts with', isNot: 'does not start with' },
  STR_ENDS_WITH: { group: 'Text', many: true, is: 'ends with', isNot: 'does not end with' },
  REGEX: { group: 'Text', is: 'matches the expression', isNot: 'does not match the expression' },
  NUM_EQ: { group: 'Number', is: 'is the number', isNot: 'is not the number' },
  NUM_GT: { group: 'Number', is: 'is greater than', isNot: 'is not greater than' },
  NUM_GTE: { group: 'Number', is: 'is at least', isNot: 'is not at least' },
  NUM_LT: { group: 'Number', is: 'is less than', isNot: 'is not less than' },
  NUM_LTE: { group: 'Number', is: 'is at most', isNot: 'is not at most' },
  DATE_AFTER: { group: 'Date', is: 'is after', isNot: 'is not after' },
  DATE_BEFORE: { group: 'Date', is: 'is before', isNot: 'is not before' },
  SEMVER_EQ: { group: 'Version', is: 'is version', isNot: 'is not version' },
  SEMVER_GT: { group: 'Version', is: 'is later than version', isNot: 'is not later than version' },
  SEMVER_GTE: { group: 'Version', is: 'is at least version', isNot: 'is not at least version' },
  SEMVER_LT: { group: 'Version', is: 'is earlier than version', isNot: 'is not earlier than version' },
  SEMVER_LTE: { group: 'Version', is: 'is at most version', isNot: 'is not at most version' },
  IN_CIDR: { group: 'Address', many: true, is: 'is in', isNot: 'is not in' },
};

/** A list as in a sentence: "DE", "DE or AT", "DE, AT or CH". Of a long one, it names some. */
export function listed(values, conjunction = 'or') {
  if (values.length > shownValues) {
    const more = (values.length - shownValues).toLocaleString('en');
    return `${values.slice(0, shownValues).join(', ')} ${conjunction} ${more} more`;
  }
  if (values.length < 2) return values.join('');
  return `${values.slice(0, -1).join(', ')} ${conjunction} ${values.at(-1)}`;
}

/** A constraint: "country is DE or AT". */
export function constraintWords({ contextName, operator, values = [], value, inverted, caseInsensitive }) {
  const { is, isNot, many, group } = operators[operator] ?? { is: operator, isNot: `not ${operator}`, many: value === undefined };
  const compared = many ? listed(values) : group === 'Date' ? dateWords(value) : value;
  return `${contextName} ${inverted ? isNot : is} ${compared}${caseInsensitive ? ' (in any letter case)' : ''}`;
}

/** A date-time of RFC 3339: "2026-11-26 10:00 UTC". What is none stays as it is. */
function dateWords(value) {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return value ?? '';
  return `${date.toISOString().replace('T', ' ').replace(/(:00)?\.000Z$/, '').replace(/Z$/, '')} UTC`;
}

/** For whom a strategy is on, without its segments and constraints: "25 % of users (by userId)". */
function who({ name, parameters }) {
  const entries = (text) => listed((text ?? '').split(',').map((entry) => entry.trim()).filter(Boolean));
  switch (name) {
    case 'default': return 'Everyone';
    case 'flexibleRollout': return rollout(parameters.rollout, parameters.stickiness);
    case 'remoteAddress': return `Callers from ${entries(parameters.IPs)}`;
    case 'applicationHostname': return `Applications on ${entries(parameters.hostNames)}`;
    case 'userWithId': return `Users with the id ${entries(parameters.userIds)}`;
    case 'gradualRolloutUserId': return rollout(parameters.percentage, 'userId');
    case 'gradualRolloutSessionId': return rollout(parameters.percentage, 'sessionId');
    case 'gradualRolloutRandom': return rollout(parameters.percentage, 'random');
    default: return `Strategy ${name}`;
  }
}

function rollout(percentage, stickiness) {
  if (percentage === '100') return 'Everyone';
  if (percentage === '0') return 'Nobody (0 %)';
  switch (stickiness) {
    case 'default': return `${percentage} % of users`;
    case 'random': return `${percentage} % at random`;
    case 'userId': return `${percentage} % of users (by userId)`;
    case 'sessionId': return `${percentage} % of sessions (by sessionId)`;
    default: return `${percentage} % (by ${stickiness})`;
  }
}

/**
 * A strategy in one sentence: "25 % of users (by userId) in segment “Beta” where country is DE or AT".
 * @param {Object} strategy
 * @param {(id: number) => string} segmentName
 */
export function strategyWords(strategy, segmentName) {
  const segments = strategy.segments.map((id) => `segment “${segmentName(id)}”`);
  const constraints = strategy.constraints.map(constraintWords);
  return [
    who(strategy),
    segments.length > 0 && `in ${listed(segments, 'and')}`,
    constraints.length > 0 && `where ${constraints.join(' and ')}`,
  ].filter(Boolean).join(' ');
}

/** The names of the context fields that decide whether a strategy holds, and which variant it gives, without those of its segments. */
export function strategyFields({ name, parameters, constraints, variants }) {
  return [...new Set([...constraints.map(({ contextName }) => contextName), ...typeFields(name, parameters, variants)])];
}

function typeFields(name, { rollout: percentage, stickiness }, variants) {
  switch (name) {
    case 'flexibleRollout':
      if (stickiness === 'random') return [];
      if (stickiness !== 'default') return [stickiness];
      return percentage === '100' && variants.length === 0 ? [] : ['userId', 'sessionId'];
    case 'remoteAddress': return ['remoteAddress'];
    case 'userWithId': case 'gradualRolloutUserId': return ['userId'];
    case 'gradualRolloutSessionId': return ['sessionId'];
    default: return [];
  }
}

/** A condition on another toggle: "checkout is on with the variant blue or green". */
export function dependencyWords({ feature, enabled, variants = [] }) {
  const withVariants = enabled !== false && variants.length > 0 ? ` with the variant ${listed(variants)}` : '';
  return `${feature} is ${enabled === false ? 'off' : 'on'}${withVariants}`;
}

/** The variants of a strategy: "blue 50 %, green 50 %". */
export function variantWords(variants) {
  return variants.map(({ name, weight }) => `${name} ${weight / 10} %`).join(', ');
}

/**
 * What happens where a toggle is switched on, one sentence per strategy that takes part.
 * @param {Array} strategies of the environment
 * @param {(id: number) => string} segmentName
 */
export function onFor(strategies, segmentName) {
  const enabled = strategies.filter(({ disabled }) => !disabled);
  return enabled.length > 0 ? enabled.map((strategy) => strategyWords(strategy, segmentName)) : ['Everyone'];
}

/**
 * The state of a toggle in an environment in a sentence: "On for: Everyone", "Off. Turned on: 25 % of users" or "Off".
 * @param {{enabled: boolean, strategies: Array}} state
 * @param {(id: number) => string} segmentName
 */
export function stateSentence({ enabled, strategies }, segmentName) {
  const users = onFor(strategies, segmentName).join('; ');
  return enabled ? `On for: ${users}` : strategies.length === 0 ? 'Off' : `Off. Turned on: ${users}`;
}

/** Whether a constraint of an evaluation holds, and with which value: "country is DE or AT; it is FR". */
function constraintReason(constraint) {
  const { contextValue, result } = constraint;
  return { holds: result, text: `${constraintWords(constraint)}; it is ${contextValue === null ? 'not set' : contextValue}` };
}

/**
 * Why a strategy of an evaluation holds or not: its parts, in the order of the evaluation.
 * @returns {Array<{holds: boolean, text: string, parts?: Array}>}
 */
export function strategyReasons(strategy) {
  const { disabled, constraints, segments, result } = strategy;
  if (disabled) return [{ holds: false, text: 'The strategy is disabled' }];
  const reasons = [
    ...segments.map(({ id, name, result: holds, constraints: parts }) => (
      { holds, text: name ? `segment “${name}”` : `segment ${id}: you do not see its project, so this is not known`, parts: parts.map(constraintReason) })),
    ...constraints.map(constraintReason),
  ];
  if (result.evaluationStatus === 'incomplete') return reasons;
  // Besides them, the type with its parameters decides.
  const ruleHolds = result.enabled === true || reasons.some(({ holds }) => !holds);
  if (result.rollout !== undefined) {
    const number = result.number === undefined ? `${strategy.parameters.stickiness} is not set` : `the number of this context is ${result.number}`;
    return [...reasons, { holds: result.number !== undefined && result.number <= result.rollout, text: `${result.rollout} %; ${number}` }];
  }
  return ruleHolds && reasons.length > 0 ? reasons : [...reasons, { holds: ruleHolds, text: who(strategy) }];
}

/** Why a toggle is on or off in an environment, in short. */
export function resultReason({ environment, isEnabled, isEnabledInCurrentEnvironment, hasUnsatisfiedDependency, strategies }) {
  if (!isEnabledInCurrentEnvironment) return `It is turned off in ${environment}.`;
  if (hasUnsatisfiedDependency) return 'The toggle that it depends on does not have the state that it needs.';
  if (strategies.result === 'unknown') return 'It depends on what is not known here.';
  if (!isEnabled) return strategies.data.length === 1 ? 'Its strategy does not hold.' : 'None of its strategies holds.';
  const i = strategies.data.findIndex(({ result }) => result.enabled === true);
  return i < 0 ? 'It is on for everyone.' : `Strategy ${i + 1} holds.`;
}
