// Evaluates toggles with a version of unleash-client.
//
//   node node.js PACKAGE

const { once } = require('node:events');
const { serve, text } = require('./lines.js');
const { Unleash } = require(process.argv[2]);

(async () => {
  const unleash = new Unleash({
    url: `${process.env.CLIENT_URL}/api`,
    appName: 'sdk',
    customHeaders: { Authorization: process.env.CLIENT_TOKEN },
    refreshInterval: 500,
    metricsInterval: 500,
  });
  unleash.on('error', (error) => console.error(error.message));
  unleash.on('warn', console.error);
  await once(unleash, 'synchronized');
  await serve((context, toggles) =>
    toggles.map(({ name }) => text(unleash.isEnabled(name, context), unleash.getVariant(name, context))),
  );
  unleash.destroy();
  process.exit();
})();
