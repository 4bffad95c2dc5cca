// go get github.com/Unleash/unleash-go-sdk/v5
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/Unleash/unleash-go-sdk/v5"
	"github.com/Unleash/unleash-go-sdk/v5/context"
)

func main() {
	client, err := unleash.NewClient(
		unleash.WithUrl(os.Getenv("CLIENT_URL")+"/api"),
		unleash.WithAppName("shop"),
		unleash.WithCustomHeaders(http.Header{"Authorization": {os.Getenv("CLIENT_TOKEN")}}),
		unleash.WithRefreshInterval(5*time.Second),
		unleash.WithListener(unleash.NoopListener{}),
	)
	if err != nil {
		log.Fatal(err)
	}
	client.WaitForReady()

	user := context.Context{UserId: "7", Properties: map[string]string{"country": "NO"}}
	shown := ""
	for {
		state := "off"
		if client.IsEnabled("express-checkout", unleash.WithContext(user)) {
			state = "on"
		}
		if state != shown {
			fmt.Println("express-checkout is", state)
			shown = state
		}
		time.Sleep(time.Second)
	}
}
