// npm install unleash-client
const { initialize } = require('unleash-client');

const unleash = initialize({
  url: `${process.env.CLIENT_URL}/api`,
  appName: 'shop',
  customHeaders: { Authorization: process.env.CLIENT_TOKEN },
  refreshInterval: 5000, // milliseconds
});
unleash.on('error', console.error);

const context = { userId: '7', properties: { country: 'NO' } };
let shown;

function show() {
  const isOn = unleash.isEnabled('express-checkout', context);
  if (isOn !== shown) console.log(`express-checkout is ${isOn ? 'on' : 'off'}`);
  shown = isOn;
}
unleash.once('synchronized', () => setInterval(show, 1000)); // when the first toggles have arrived
