// Evaluates toggles with the engine of Unleash's SDK for Node.js: node node.mjs PACKAGE, with its folder in NODE_PATH.
//
// Each line of the input is a JSON object with a state in the form of the client API, and contexts. The line of output
// for it has, for each context and toggle, whether the toggle is on and the name of its variant.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(import.meta.url);
const sdk = process.argv[2];
const { default: Client } = require(`${sdk}/lib/client.js`);
const { defaultStrategies } = require(`${sdk}/lib/strategy/index.js`);

// Unleash sends the values of every constraint, and the engine fails without them.
const withValues = (_, value) => (value?.operator ? { values: [], ...value } : value);

for await (const line of createInterface({ input: process.stdin })) {
  const { state, contexts } = JSON.parse(line, withValues);
  const features = new Map(state.features.map((feature) => [feature.name, feature]));
  const segments = new Map(state.segments.map((segment) => [segment.id, segment]));
  const repository = { getToggle: (name) => features.get(name), getSegment: (id) => segments.get(id) };
  const client = new Client(repository, defaultStrategies);

  const evaluate = (name, context) => {
    const variant = client.getVariant(name, context);
    return [variant.feature_enabled, variant.enabled ? variant.name : ''];
  };
  const results = contexts.map((context) => state.features.map(({ name }) => evaluate(name, context)));
  console.log(JSON.stringify({ results }));
}
