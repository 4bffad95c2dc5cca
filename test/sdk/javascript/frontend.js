// Asks for toggles with a version of unleash-proxy-client, the SDK for browsers.
//
//   node frontend.js PACKAGE [POST]

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
        usePOSTrequests: process.argv[3] === 'POST',
      });
      client.on('error', console.error);
      await client.start();
    } else if (JSON.stringify(context) !== current) {
      await client.updateContext(context);
    }
    current = JSON.stringify(context);
    return toggles.map(({ name }) => text(client.isEnabled(name), client.getVariant(name)));
  });
  process.exit();
})();
