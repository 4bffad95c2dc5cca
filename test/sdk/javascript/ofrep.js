// Asks for toggles with OpenFeature's OFREP provider for browsers.

const { OFREPWebProvider } = require('@openfeature/ofrep-web-provider');
const { OpenFeature } = require('@openfeature/web-sdk');
const { serve } = require('./lines.js');

const evaluate = ({ name, type }) => {
  const client = OpenFeature.getClient();
  if (type === 'boolean') return client.getBooleanValue(name, false) ? 'on' : 'off';
  const { value, variant } =
    type === 'json' ? client.getObjectDetails(name, {}) : client.getStringDetails(name, '');
  if (!variant || variant === 'disabled') return 'off';
  return `on ${variant} ${type === 'json' ? JSON.stringify(value) : value}`;
};

(async () => {
  let current;
  await serve(async ({ userId, properties, ...fields }, toggles) => {
    const context = { targetingKey: userId, ...fields, ...properties };
    if (JSON.stringify(context) !== current) await OpenFeature.setContext(context);
    if (!current) {
      const provider = new OFREPWebProvider({
        baseUrl: process.env.CLIENT_URL,
        headers: [['Authorization', `Bearer ${process.env.CLIENT_TOKEN}`]],
        pollInterval: 500,
      });
      await OpenFeature.setProviderAndWait(provider);
    }
    current = JSON.stringify(context);
    return toggles.map(evaluate);
  });
  process.exit();
})();
