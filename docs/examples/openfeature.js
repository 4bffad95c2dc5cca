// npm install @openfeature/web-sdk @openfeature/ofrep-web-provider
const { OFREPWebProvider } = require('@openfeature/ofrep-web-provider');
const { OpenFeature, ProviderEvents } = require('@openfeature/web-sdk');

const client = OpenFeature.getClient();

function show() {
  const isOn = client.getBooleanValue('express-checkout', false);
  console.log(`express-checkout is ${isOn ? 'on' : 'off'}`);
}
client.addHandler(ProviderEvents.Ready, show);
client.addHandler(ProviderEvents.ConfigurationChanged, show);

OpenFeature.setContext({ targetingKey: '7', country: 'NO' });
OpenFeature.setProvider(
  new OFREPWebProvider({
    baseUrl: process.env.CLIENT_URL,
    headers: [['Authorization', `Bearer ${process.env.CLIENT_TOKEN}`]],
    pollInterval: 5000, // milliseconds
  }),
);
