package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
)

// serviceAccounts is how many accounts the created tokens are spread over; firstAccount is the id of the first.
const (
	serviceAccounts = 64
	firstAccount    = 1001
)

// httpCase is one operation, as workers do it, with the goal of its ratio to GetItem at 16 connections.
type httpCase struct {
	name   string
	goal   float64
	calls  float64 // requests of one call of the worker
	worker func(ctx context.Context, s *service, i int) worker
}

func httpCases() []httpCase {
	return []httpCase{
		{"list feature types", 0.24, 1, repeat(http.MethodGet, "feature-types", "")},
		{"list context fields", 0.18, 1, repeat(http.MethodGet, "context", "")},
		{"update feedback", 0.20, 1, repeat(http.MethodPut, "feedback/bench", `{"neverShow":true}`)},
		{"create + delete token", 0.05, 2, createAndDelete},
	}
}

// repeat sends the same request again and again. With a body, each worker has its own path.
func repeat(method, path, body string) func(context.Context, *service, int) worker {
	return func(ctx context.Context, s *service, i int) worker {
		c, path := dial(ctx, s.BaseURL), path
		if body != "" {
			path = fmt.Sprint(path, i)
		}
		return func(context.Context) error {
			_, err := c.do(http.StatusOK, method, "/api/admin/"+path, s.Users[0].PAT, body)
			return err
		}
	}
}

// createAndDelete creates a PAT of a service account that deletes itself.
func createAndDelete(ctx context.Context, s *service, i int) worker {
	c := dial(ctx, s.BaseURL)
	path := fmt.Sprintf("/api/admin/service-account/%d/token", firstAccount+i%serviceAccounts)
	body := fmt.Sprintf(`{"description":"bench %d","expiresAt":"2099-01-01T00:00:00Z"}`, i)
	return func(context.Context) error {
		answer, err := c.do(http.StatusCreated, http.MethodPost, path, s.Users[0].PAT, body)
		if err != nil {
			return err
		}
		var created struct {
			ID     int64
			Secret string
		}
		if err := json.Unmarshal(answer, &created); err != nil {
			return err
		}
		_, err = c.do(http.StatusOK, http.MethodDelete, fmt.Sprint("/api/admin/user/tokens/", created.ID), created.Secret, "")
		return err
	}
}

// getItem is the reference: a consistent GetItem of a small item by the SDK's client, as the functions use it.
func getItem(s *service) worker {
	return func(ctx context.Context) error {
		_, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables["Users"]), Key: user.Key(1),
			ConsistentRead: aws.Bool(true)})
		return err
	}
}

// measureHTTP compares the operations over HTTP with GetItem.
func measureHTTP(ctx context.Context, o options) {
	s := startService(ctx, o, filepath.Join(o.disk, "http"))
	defer s.stop()
	users := user.NewStore(s.client, s.tables, eventlog.Discard(s.client, time.Now))
	for i := range serviceAccounts {
		name := fmt.Sprint("bench ", i)
		check(users.Create(ctx, user.User{ID: int64(firstAccount + i), Kind: user.ServiceAccount, Name: name,
			Username: name, Role: access.RoleEditor}))
	}
	var rows [][]any
	for _, n := range o.Clients {
		baselines := slices.Repeat([]worker{getItem(s)}, n)
		for _, c := range httpCases() {
			workers := make([]worker, n)
			for i := range workers {
				workers[i] = c.worker(ctx, s, i)
			}
			var perSecond, ratios []float64
			var p50, p99 []time.Duration
			for range o.Rounds {
				baseline := drive(ctx, o.Length, baselines)
				r := drive(ctx, o.Length, workers)
				perSecond = append(perSecond, r.perSecond*c.calls)
				ratios = append(ratios, r.perSecond*c.calls/baseline.perSecond)
				p50, p99 = append(p50, r.p50), append(p99, r.p99)
			}
			rows = append(rows, []any{c.name, n, int(median(perSecond)), median(p50), median(p99),
				fmt.Sprintf("%.3f", median(ratios)), c.goal})
		}
	}
	printTable("Requests over HTTP through `make run`",
		" operation | connections | requests/s | p50 ms | p99 ms | ratio | goal", rows,
		"Client, gateway, functions and engine share this machine. Closed loop, one keep-alive connection a "+
			"worker; every status is checked. Each run is paired with one of the engine's GetItem (consistent, by the SDK's "+
			"client) with as many workers; median of %d pairs of %s. Every commit of the engine waits for the disk. The goal "+
			"is the ratio with 16 connections.", o.Rounds, o.Length)
}
