// npm install @unleash/proxy-client-react unleash-proxy-client
import { FlagProvider, useFlag, useFlagsStatus } from '@unleash/proxy-client-react';

const config = {
  url: `${process.env.CLIENT_URL}/api/frontend`,
  clientKey: process.env.CLIENT_TOKEN, // of the type frontend: everybody can read it
  appName: 'shop',
  context: { userId: '7', properties: { country: 'NO' } },
  refreshInterval: 5, // seconds
};

function Checkout() {
  const isOn = useFlag('express-checkout');
  const { flagsReady } = useFlagsStatus();
  if (!flagsReady) return null;
  return <p>express-checkout is {isOn ? 'on' : 'off'}</p>;
}

export function App() {
  return (
    <FlagProvider config={config}>
      <Checkout />
    </FlagProvider>
  );
}
