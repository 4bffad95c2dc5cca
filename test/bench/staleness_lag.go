package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/dynamo"
)

const (
	lagRounds   = 30
	lagToggles  = 100
	lagPatience = 30 * time.Second
)

// measureLag measures, through `make run`, the delay from the response to a lifetime change until the flags are stored,
// and from the change of a flag until the webhook receives its event.
func measureLag(ctx context.Context, o options, work string) (err error) {
	binary, err := buildLocal(ctx, work)
	if err != nil {
		return err
	}
	received := make(receiver, lagToggles)
	webhook := httptest.NewServer(received)
	defer webhook.Close()
	s, err := startLocal(ctx, binary, filepath.Join(work, "lag"), "WEBHOOK_URL="+webhook.URL)
	if err != nil {
		return err
	}
	defer func() {
		if stopped := s.stop(); err == nil {
			err = stopped
		}
	}()
	if err := s.addAging(ctx); err != nil {
		return err
	}
	names := []string{"first flag", "last of 100 flags", "first flag cleared", "last of 100 flags cleared",
		"event at the webhook"}
	lags := make([][]time.Duration, len(names))
	for range max(o.Rounds, lagRounds) {
		for i, days := range []string{"50", "null"} {
			first, last, err := s.lag(ctx, days, (1-i)*lagToggles)
			if err != nil {
				return err
			}
			lags[2*i], lags[2*i+1] = append(lags[2*i], first), append(lags[2*i+1], last)
			events, err := received.await(lagToggles)
			if err != nil {
				return err
			}
			lags[4] = append(lags[4], events...)
		}
	}
	var rows [][]string
	for i, name := range names {
		slices.Sort(lags[i])
		goal := []string{"300", "2000", "300", "2000", "300"}[i]
		rows = append(rows, []string{
			name, milliseconds(percentile(lags[i], 0.5)), milliseconds(percentile(lags[i], 0.99)),
			milliseconds(lags[i][len(lags[i])-1]), goal,
		})
	}
	printTable("From a lifetime's change to the flags",
		fmt.Sprintf("The program of `make run`, as a process with its data in a folder; from the 200 of the PUT (its body "+
			"read) to the end of the "+
			"first count that shows the flags: consistent scans of the toggles, one after the other, which load the engine too. %d toggles of one "+
			"type, %d changes from null to 50 days and back. Events: from the change of a flag to the end of the webhook's request.",
			lagToggles, len(lags[0])),
		[]string{"", "p50 ms", "p99 ms", "max ms", "goal ms"}, rows)
	return nil
}

// receiver is a webhook. It contains the delays of the events of changed flags.
type receiver chan time.Duration

// ServeHTTP receives an event.
func (r receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var e struct {
		Type string
		Time time.Time
	}
	if err := json.NewDecoder(request.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if strings.Contains(e.Type, "potentially-stale") {
		r <- time.Since(e.Time)
	}
}

// await waits for n events and returns their delays.
func (r receiver) await(n int) (delays []time.Duration, err error) {
	for timeout := time.After(lagPatience); len(delays) < n; {
		select {
		case delay := <-r:
			delays = append(delays, delay)
		case <-timeout:
			return nil, fmt.Errorf("%d of %d events after %s", len(delays), n, lagPatience)
		}
	}
	return delays, nil
}

// aging is the type of the toggles.
const aging = "aging"

// addAging makes a type and toggles of it that are 100 days old.
func (s *service) addAging(ctx context.Context) error {
	tables := dynamo.TablesByID(s.Credentials.DynamoDB.Tables)
	err := featuretype.NewStore(s.client, tables, eventlog.Quiet(s.client)).Create(ctx,
		featuretype.FeatureType{ID: aging, Name: "Aging", Position: 9})
	if err != nil {
		return err
	}
	store := feature.NewStore(s.client, tables, eventlog.Quiet(s.client))
	for i := range lagToggles {
		f := feature.Feature{Name: fmt.Sprint("aging-", i), Project: "default", Type: aging,
			CreatedAt: time.Now().AddDate(0, 0, -100)}
		if err := store.Create(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// lag changes the lifetime and returns the delay of the first and the last changed flag.
func (s *service) lag(ctx context.Context, days string, want int) (first, last time.Duration, err error) {
	before := lagToggles - want
	if err := s.putLifetime(ctx, days); err != nil {
		return 0, 0, err
	}
	started := time.Now()
	for time.Since(started) < lagPatience {
		n, err := s.flags(ctx)
		if err != nil {
			return 0, 0, err
		}
		if first == 0 && n != before {
			first = time.Since(started)
		}
		if n == want {
			return first, time.Since(started), nil
		}
	}
	return 0, 0, fmt.Errorf("not %d flags after %s", want, lagPatience)
}

func (s *service) putLifetime(ctx context.Context, days string) error {
	url := s.Credentials.BaseURL + "/api/admin/feature-types/" + aging + "/lifetime"
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader(`{"lifetimeDays":`+days+`}`))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", s.Credentials.Users[0].PAT)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("PUT lifetime: %s: %s", response.Status, body)
	}
	return err
}

// flags counts the flagged toggles, all in one page.
func (s *service) flags(ctx context.Context) (int, error) {
	page, err := s.client.Scan(ctx, &dynamodb.ScanInput{
		TableName: aws.String(s.Credentials.DynamoDB.Tables["Features"]), Select: types.SelectCount,
		ConsistentRead:            aws.Bool(true),
		FilterExpression:          aws.String("#type = :type AND potentiallyStale = :true"),
		ExpressionAttributeNames:  map[string]string{"#type": "type"},
		ExpressionAttributeValues: dynamo.Item{":type": dynamo.S(aging), ":true": dynamo.Bool(true)},
	})
	if err != nil {
		return 0, fmt.Errorf("count flags: %w", err)
	}
	return int(page.Count), nil
}
