// Asks for toggles with a version of unleash-proxy-client, the SDK for browsers.
//
//   node frontend.js PACKAGE

const { isDeepStrictEqual } = require('node:util');
const { serve, text } = require('./lines.js');
const { UnleashClient } = require(process.argv[2]);

(async () => {
  let client;
  let current;
  await serve(async (context, toggles) => {
    if (!client) {
      client = new UnleashClient({
        url: `${process.env.CLIENT_URL}/api/frontend`,
        clientKey: process.env.CLIENT_TOKEN,
        appName: 'sdk',
        context,
        refreshInterval: 1,
        metricsInterval: 1,
      });
      client.on('error', console.error);
      await client.start();
    } else if (!isDeepStrictEqual(context, current)) {
      await client.updateContext(context);
    }
    current = context;
    return toggles.map(({ name }) => text(client.isEnabled(name), client.getVariant(name)));
  });
  process.exit();
})();
