package local

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/webhook"
	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/terminal"
)

// checkWebhook returns an error if WEBHOOK_URL cannot be used.
func checkWebhook(c *Config) error {
	if c.WebhookURL == "" {
		return nil
	}
	if strings.ContainsFunc(c.WebhookURL, unicode.IsSpace) { // which separates the URL and the secrets in the parameter
		return errors.New("WEBHOOK_URL cannot be used: it contains white space")
	}
	if _, err := webhook.NewClient(c.WebhookURL, true, c.Now); err != nil {
		return fmt.Errorf("WEBHOOK_URL cannot be used: %w", err)
	}
	return nil
}

// checkWebhookEvents returns an error if WEBHOOK_EVENTS cannot be used.
func checkWebhookEvents(c *Config) error {
	switch {
	case c.WebhookEvents == "":
		return nil
	case c.WebhookURL == "":
		return errors.New("WEBHOOK_EVENTS is set without WEBHOOK_URL, which receives the events: set both, or unset it")
	case c.WebhookEvents == "*":
		return nil
	}
	known := eventlog.Types()
	for name := range strings.SplitSeq(c.WebhookEvents, ",") {
		if !slices.Contains(known, eventlog.Type(name)) {
			return fmt.Errorf("WEBHOOK_EVENTS %q is not a type of event: use * for all, or types separated by commas: %s",
				name, strings.Trim(fmt.Sprint(known), "[]"))
		}
	}
	return nil
}

// newBus opens the bus.
func newBus(c *Config, template *samtemplate.Template, secret string, out *terminal.Output) (*bus.Bus, error) {
	b, err := bus.Open(bus.Config{
		Template: template, DataDir: c.DataDir, Parameter: c.WebhookURL + " " + secret, Now: c.Now, NewID: newSortedID(c),
		Logger: ownLogger(out),
	})
	if err != nil {
		return nil, fmt.Errorf("DATA_DIR %s: %w", c.DataDir, err)
	}
	return b, nil
}

// newSortedID returns a function that returns UUIDs of which later ones sort behind earlier ones.
func newSortedID(c *Config) func() string {
	return func() string { return uuid.Must(uuid.NewV7FromReader(c.Random)).String() }
}
