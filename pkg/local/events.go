package local

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/local/terminal"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/webhook"
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

// newBus opens the bus.
func newBus(c *Config, template *samtemplate.Template, secret string, out *terminal.Output) (*bus.Bus, error) {
	b, err := bus.Open(bus.Config{
		Template: template, DataDir: c.DataDir, Parameter: c.WebhookURL + " " + secret, Now: c.Now, NewID: newSortedID(c), Logger: ownLogger(out),
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
