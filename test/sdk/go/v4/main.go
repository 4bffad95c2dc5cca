// Command v4 evaluates toggles with unleash-client-go. The protocol is that of ../../javascript/lines.js.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/Unleash/unleash-client-go/v4"
	"github.com/Unleash/unleash-client-go/v4/context"
)

type request struct {
	Context context.Context
	Toggles []struct{ Name string }
}

func main() {
	client, err := unleash.NewClient(
		unleash.WithUrl(os.Getenv("CLIENT_URL")+"/api"),
		unleash.WithAppName("sdk"),
		unleash.WithCustomHeaders(http.Header{"Authorization": {os.Getenv("CLIENT_TOKEN")}}),
		unleash.WithRefreshInterval(500*time.Millisecond),
		unleash.WithMetricsInterval(500*time.Millisecond),
		unleash.WithListener(unleash.NoopListener{}),
	)
	if err != nil {
		log.Fatal(err)
	}
	client.WaitForReady()
	requests, responses := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var sent request
		if requests.Decode(&sent) != nil {
			break
		}
		var results []string
		for _, toggle := range sent.Toggles {
			results = append(results, evaluate(client, toggle.Name, sent.Context))
		}
		if err := responses.Encode(results); err != nil {
			log.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		log.Fatal(err)
	}
}

func evaluate(client *unleash.Client, name string, ctx context.Context) string {
	if !client.IsEnabled(name, unleash.WithContext(ctx)) {
		return "off"
	}
	variant := client.GetVariant(name, unleash.WithVariantContext(ctx))
	if !variant.Enabled {
		return "on"
	}
	return "on " + variant.Name + " " + variant.Payload.Value
}
