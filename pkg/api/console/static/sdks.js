// The code that connects an SDK.

const variable = { label: 'Set the variable', code: ({ secret }) => `export CLIENT_TOKEN='${secret}'` };

/**
 * The languages, by their name in addresses: `kind` is that of the token, and `steps` are commands and programs. Each has a `label` and `code`,
 * a function of {url, secret, app, toggle}, which contain none of ' " \ and line breaks.
 */
export const sdks = {
  node: {
    name: 'Node.js',
    kind: 'backend',
    steps: [
      { label: 'Install the SDK', code: () => 'npm install unleash-client' },
      variable,
      {
        label: 'Ask for a toggle, for example in app.mjs',
        code: ({ url, app, toggle }) => `import { startUnleash } from 'unleash-client';

const unleash = await startUnleash({
  url: '${url}/api/',
  appName: '${app}',
  customHeaders: { Authorization: process.env.CLIENT_TOKEN },
});
console.log(unleash.isEnabled('${toggle}', { userId: '7' }));`,
      },
    ],
  },
  python: {
    name: 'Python',
    kind: 'backend',
    steps: [
      { label: 'Install the SDK', code: () => 'pip install UnleashClient' },
      variable,
      {
        label: 'Ask for a toggle, for example in app.py',
        code: ({ url, app, toggle }) => `import os

from UnleashClient import UnleashClient

client = UnleashClient(
    url="${url}/api",
    app_name="${app}",
    custom_headers={"Authorization": os.environ["CLIENT_TOKEN"]},
)
client.initialize_client()
print(client.is_enabled("${toggle}", {"userId": "7"}))`,
      },
    ],
  },
  go: {
    name: 'Go',
    kind: 'backend',
    steps: [
      { label: 'Install the SDK', code: () => 'go get github.com/Unleash/unleash-go-sdk/v5' },
      variable,
      {
        label: 'Ask for a toggle, for example in main.go',
        code: ({ url, app, toggle }) => `package main

import (
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/Unleash/unleash-go-sdk/v5"
	"github.com/Unleash/unleash-go-sdk/v5/context"
)

func main() {
	client, err := unleash.NewClient(
		unleash.WithUrl("${url}/api/"),
		unleash.WithAppName("${app}"),
		unleash.WithCustomHeaders(http.Header{"Authorization": {os.Getenv("CLIENT_TOKEN")}}),
		unleash.WithListener(&unleash.DebugListener{}), // logs errors
	)
	if err != nil {
		log.Fatal(err)
	}
	client.WaitForReady()
	fmt.Println(client.IsEnabled("${toggle}", unleash.WithContext(context.Context{UserId: "7"})))
}`,
      },
    ],
  },
  java: {
    name: 'Java',
    kind: 'backend',
    steps: [
      {
        label: 'Add the SDK to pom.xml',
        code: () => `<dependency>
  <groupId>io.getunleash</groupId>
  <artifactId>unleash-client-java</artifactId>
  <version>12.2.3</version>
</dependency>`,
      },
      variable,
      {
        label: 'Ask for a toggle, for example in App.java',
        code: ({ url, app, toggle }) => `import io.getunleash.DefaultUnleash;
import io.getunleash.Unleash;
import io.getunleash.UnleashContext;
import io.getunleash.util.UnleashConfig;

public class App {
  public static void main(String[] args) {
    Unleash unleash = new DefaultUnleash(UnleashConfig.builder()
        .unleashAPI("${url}/api")
        .appName("${app}")
        .apiKey(System.getenv("CLIENT_TOKEN"))
        .synchronousFetchOnInitialisation(true)
        .build());
    UnleashContext user = UnleashContext.builder().userId("7").build();
    System.out.println(unleash.isEnabled("${toggle}", user));
    unleash.shutdown();
  }
}`,
      },
    ],
  },
  react: {
    name: 'React',
    kind: 'frontend',
    steps: [
      { label: 'Install the SDK', code: () => 'npm install @unleash/proxy-client-react unleash-proxy-client' },
      {
        label: 'Ask for a toggle, for example in App.jsx',
        code: ({ url, secret, app, toggle }) => `import { FlagProvider, useFlag } from '@unleash/proxy-client-react';

const config = {
  url: '${url}/api/frontend',
  clientKey: '${secret}',
  appName: '${app}',
  refreshInterval: 15, // seconds
  context: { userId: '7' },
};

export default function App() {
  return (
    <FlagProvider config={config}>
      <Checkout />
    </FlagProvider>
  );
}

function Checkout() {
  const isOn = useFlag('${toggle}');
  return <p>{isOn ? 'on' : 'off'}</p>;
}`,
      },
    ],
  },
  openfeature: {
    name: 'OpenFeature',
    kind: 'backend',
    steps: [
      { label: 'Install the SDK and the provider, here those of Node.js', code: () => 'npm install @openfeature/server-sdk @openfeature/ofrep-provider' },
      variable,
      {
        label: 'Ask for a toggle, for example in app.mjs',
        code: ({ url, toggle }) => `import { OpenFeature } from '@openfeature/server-sdk';
import { OFREPProvider } from '@openfeature/ofrep-provider';

await OpenFeature.setProviderAndWait(new OFREPProvider({
  baseUrl: '${url}',
  headers: { Authorization: process.env.CLIENT_TOKEN },
}));
const client = OpenFeature.getClient();
console.log(await client.getBooleanValue('${toggle}', false, { targetingKey: '7' }));`,
      },
    ],
  },
};
