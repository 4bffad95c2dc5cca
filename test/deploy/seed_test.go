package deploy_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/seed"
	"toggleadmin/test/script"
)

// tables returns the names of the stack's tables, from its outputs.
func (s *stack) tables() dynamo.Tables {
	names := map[string]string{}
	for output, value := range s.outputs {
		if id, ok := strings.CutSuffix(output, "Table"); ok {
			names[id] = value
		}
	}
	return dynamo.TablesByID(names)
}

// seed fills the stack's tables, which it knows by the outputs, and keeps the credentials: nothing of them is written down.
func (s *stack) seed(ctx context.Context) error {
	client, err := s.dynamoDB()
	if err != nil {
		return err
	}
	result, err := seed.Seed(ctx, seed.Config{
		Client: client, Tables: s.tables(), Now: time.Now, Random: rand.Reader, Known: s.credentials,
	})
	if err != nil {
		return err
	}
	s.credentials = result.Credentials
	return nil
}

// deleteAccountTokens deletes the tokens of the seeded service account: where a permission is missing scripts leave theirs, up to the limit.
func (s *stack) deleteAccountTokens(ctx context.Context) error {
	client, err := s.dynamoDB()
	if err != nil {
		return err
	}
	store := pat.NewStore(client, s.tables(), rand.Reader)
	all, err := store.List(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.UserID != s.credentials.ServiceAccounts[0].ID {
			continue
		}
		if err := store.Delete(ctx, p.UserID, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// dynamoDB gives a client of the emulator's root user.
func (s *stack) dynamoDB() (*dynamodb.Client, error) {
	config := s.config()
	config.HTTPClient = dynamo.NewHTTPClient(s.url)
	return dynamo.NewClient(config, s.url)
}

// ground is the stack as scripts know it.
func (s *stack) ground() (script.Ground, error) {
	content, err := json.Marshal(s.credentials)
	if err != nil {
		return script.Ground{}, fmt.Errorf("encode the credentials: %w", err)
	}
	g := script.Ground{Name: script.Ministack, BaseURL: s.baseURL, Now: time.Now}
	if err := json.Unmarshal(content, &g.Credentials); err != nil { // the one form that both know: local.json's
		return script.Ground{}, fmt.Errorf("decode the credentials: %w", err)
	}
	return g, nil
}
