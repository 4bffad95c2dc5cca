// Asks for toggles with Unleash's SDK for React, in a page.

import {
  FlagProvider,
  useFlag,
  useFlagsStatus,
  useUnleashContext,
  useVariant,
} from '@unleash/proxy-client-react';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { serve, text } from './lines.js';

const results = {};
let updateContext;

function Flag({ name }) {
  results[name] = text(useFlag(name), useVariant(name));
  return null;
}

function Flags({ toggles, onReady }) {
  updateContext = useUnleashContext();
  const { flagsReady } = useFlagsStatus();
  useEffect(() => {
    if (flagsReady) onReady();
  }, [flagsReady]);
  return flagsReady && toggles.map(({ name }) => <Flag key={name} name={name} />);
}

let current;
serve(async (context, toggles) => {
  if (!current) {
    const config = {
      url: `${process.env.CLIENT_URL}/api/frontend`,
      clientKey: process.env.CLIENT_TOKEN,
      appName: 'sdk',
      context,
      refreshInterval: 1,
      metricsInterval: 1,
    };
    const root = createRoot(document.body.appendChild(document.createElement('main')));
    await new Promise((onReady) => {
      root.render(
        <FlagProvider config={config}>
          <Flags toggles={toggles} onReady={onReady} />
        </FlagProvider>,
      );
    });
  } else if (JSON.stringify(context) !== current) {
    await updateContext(context);
  }
  current = JSON.stringify(context);
  return toggles.map(({ name }) => results[name]);
});
