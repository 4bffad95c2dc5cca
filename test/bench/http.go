package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feedback"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// serviceAccounts is how many accounts the created tokens are spread over; firstAccount is the id of the first.
const (
	serviceAccounts = 64
	firstAccount    = 1001
)

// httpCase is one operation, as workers do it, with the goal of its ratio to GetItem at 16 connections.
type httpCase struct {
	name   string
	goal   float64 // 0: none
	writes bool    // measured with the data in memory, too
	work   func(ctx context.Context, s *service, i int) (worker, error)
}

func httpCases() []httpCase {
	return []httpCase{
		{"list feature types", 0.24, false, repeat(http.MethodGet, "/api/admin/feature-types", "")},
		{"list context fields", 0.18, false, repeat(http.MethodGet, "/api/admin/context", "")},
		{"update feedback", 0.20, true, repeat(http.MethodPut, "/api/admin/feedback/bench-%d", `{"neverShow":true}`)},
		{"create + delete token", 0.11, true, createAndDelete},
		{"(the engine's UpdateItem alone)", 0, true, updateItem},
	}
}

// repeat sends the same request again and again; %d in the path is the worker's number.
func repeat(method, path, body string) func(context.Context, *service, int) (worker, error) {
	return func(ctx context.Context, s *service, i int) (worker, error) {
		c, err := dial(ctx, s.Credentials.BaseURL)
		if err != nil {
			return nil, err
		}
		if body != "" {
			path := fmt.Sprintf(path, i)
			request := c.request(method, path, s.Credentials.Users[0].PAT, body)
			return func(context.Context) (int, error) { _, err := c.do(request, http.StatusOK); return 1, err }, nil
		}
		request := c.request(method, path, s.Credentials.Users[0].PAT, "")
		return func(context.Context) (int, error) { _, err := c.do(request, http.StatusOK); return 1, err }, nil
	}
}

// createAndDelete creates a PAT of a service account that deletes itself: two operations.
func createAndDelete(ctx context.Context, s *service, i int) (worker, error) {
	c, err := dial(ctx, s.Credentials.BaseURL)
	if err != nil {
		return nil, err
	}
	account := firstAccount + i%serviceAccounts
	create := c.request(http.MethodPost, "/api/admin/service-account/"+strconv.Itoa(account)+"/token",
		s.Credentials.Users[0].PAT,
		fmt.Sprintf(`{"description":"bench %d","expiresAt":"2099-01-01T00:00:00Z"}`, i))
	return func(context.Context) (int, error) {
		body, err := c.do(create, http.StatusCreated)
		if err != nil {
			return 0, err
		}
		var made struct {
			ID     int64  `json:"id"`
			Secret string `json:"secret"`
		}
		if err := json.Unmarshal(body, &made); err != nil {
			return 0, err
		}
		_, err = c.do(c.request(http.MethodDelete, "/api/admin/user/tokens/"+strconv.FormatInt(made.ID, 10), made.Secret, ""),
			http.StatusOK)
		return 2, err
	}, nil
}

// getItem is the reference: a consistent GetItem of a small item by the SDK's client, as the functions use it.
func getItem(s *service) func(int) (worker, error) {
	input := &dynamodb.GetItemInput{
		TableName: aws.String(s.Credentials.DynamoDB.Tables["Users"]), Key: user.Key(1), ConsistentRead: aws.Bool(true),
	}
	return func(int) (worker, error) {
		return func(ctx context.Context) (int, error) { _, err := s.client.GetItem(ctx, input); return 1, err }, nil
	}
}

// updateItem is what update feedback asks of the engine: its rate is the limit of that operation's, and, since each
// commit is on disk before it is answered, of everything that writes.
func updateItem(_ context.Context, s *service, i int) (worker, error) {
	store := feedback.NewStore(s.client, dynamo.TablesByID(s.Credentials.DynamoDB.Tables))
	neverShow := true
	return func(ctx context.Context) (int, error) {
		_, err := store.Update(ctx, "bench-engine-"+strconv.Itoa(i), 1, feedback.Change{NeverShow: &neverShow})
		return 1, err
	}, nil
}

// measureHTTP compares the operations over HTTP with GetItem.
func measureHTTP(ctx context.Context, o options, work string) error {
	binary, err := buildLocal(ctx, work)
	if err != nil {
		return err
	}
	rows, err := compareAll(ctx, o, binary, filepath.Join(work, "http"), "disk")
	if err != nil {
		return err
	}
	if folder := memoryFolder(); folder != "" {
		data, err := os.MkdirTemp(folder, "bench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(data) //nolint:errcheck // a temporary folder
		more, err := compareAll(ctx, o, binary, filepath.Join(data, "http"), "tmpfs")
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	printTable("Requests over HTTP through `make run`",
		fmt.Sprintf("Client, gateway, functions and engine share this machine. Closed loop, one keep-alive connection a "+
			"worker; every status is checked. "+
			"Each run is paired with one of the engine's GetItem (consistent, by the SDK's client) with as many workers; median of %d pairs of %s. "+
			"What writes is measured twice: with the data on disk, where every commit waits for the disk, and on a tmpfs. "+
			"Goal of create + delete: p99.9 at most 10 times p50.",
			o.Rounds, o.Length),
		[]string{"operation", "data on", "connections", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "GetItem/s", "ratio",
			"goal"}, rows)
	return nil
}

// compareAll measures all cases on disk, and those that write elsewhere.
func compareAll(ctx context.Context, o options, binary, dataDir, place string) ([][]string, error) {
	s, err := startLocal(ctx, binary, dataDir)
	if err != nil {
		return nil, err
	}
	defer s.stop() //nolint:errcheck // the measurement is complete
	if err := makeAccounts(ctx, s); err != nil {
		return nil, err
	}
	var rows [][]string
	for _, n := range o.Clients {
		for _, c := range httpCases() {
			if len(o.Cases) > 0 && !slices.Contains(o.Cases, c.name) || place != "disk" && !c.writes {
				continue
			}
			row, err := compare(ctx, o, s, c, n)
			if err != nil {
				return nil, fmt.Errorf("%s, %d connections: %w", c.name, n, err)
			}
			rows = append(rows, slices.Insert(row, 1, place))
		}
	}
	return rows, nil
}

func compare(ctx context.Context, o options, s *service, c httpCase, n int) ([]string, error) {
	var results, baselines []result
	var ratios []float64
	for range o.Rounds {
		baseline, err := drive(ctx, n, o.Length, getItem(s))
		if err != nil {
			return nil, err
		}
		r, err := drive(ctx, n, o.Length, func(i int) (worker, error) { return c.work(ctx, s, i) })
		if err != nil {
			return nil, err
		}
		results, baselines, ratios = append(results, r), append(baselines, baseline),
			append(ratios, r.PerSecond/baseline.PerSecond)
	}
	bySpeed := func(a, b result) int { return int(a.PerSecond - b.PerSecond) }
	slices.SortFunc(results, bySpeed)
	slices.SortFunc(baselines, bySpeed)
	r, baseline, goal := results[len(results)/2], baselines[len(baselines)/2], ""
	if n == 16 && c.goal > 0 {
		goal = fmt.Sprintf("%.2f", c.goal)
	}
	return []string{
		c.name, strconv.Itoa(n), fmt.Sprintf("%.0f", r.PerSecond), milliseconds(r.P50), milliseconds(r.P99),
		milliseconds(r.P999),
		fmt.Sprintf("%.0f", baseline.PerSecond), fmt.Sprintf("%.3f", median(ratios)), goal,
	}, nil
}

func makeAccounts(ctx context.Context, s *service) error {
	users := user.NewStore(s.client, dynamo.TablesByID(s.Credentials.DynamoDB.Tables), eventlog.Quiet(s.client))
	for i := range serviceAccounts {
		name := "bench " + strconv.Itoa(i)
		account := user.User{ID: int64(firstAccount + i), Kind: user.ServiceAccount, Name: name, Username: name,
			Role: access.RoleEditor}
		if err := users.Create(ctx, account); err != nil {
			return err
		}
	}
	return nil
}
