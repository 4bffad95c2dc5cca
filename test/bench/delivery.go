package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	mathrand "math/rand/v2"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

const (
	// deliveredToggles is the number of toggles whose response has about 500 kB without compression.
	deliveredToggles = 610
	// changedToggles is the number of toggles of which some change.
	changedToggles = 1000
	// deliveredSegments is the number of segments that the toggles use.
	deliveredSegments = 20
	// delivered is the environment whose toggles are measured.
	delivered = "production"

	featuresPath    = "/api/client/features"
	frontendPath    = "/api/frontend"
	frontendContext = `{"context":{"userId":"u-7421","properties":{"plan":"plus"}}}`
)

// installed is a database with what applications download.
type installed struct {
	client *dynamodb.Client
	tables dynamo.Tables
}

// putToggles writes the toggles with the numbers 0 to n - 1, and their segments.
func (d installed) putToggles(ctx context.Context, n int) {
	putItems(ctx, d.client, d.tables["Features"], n, func(i int) dynamo.Item {
		return activeItem(i, "release", time.Now(), false)
	})
	putItems(ctx, d.client, d.tables["Segments"], deliveredSegments, func(i int) dynamo.Item {
		return segmenttable.Marshal(segmenttable.Segment{Segment: segment(i + 1)})
	})
}

// segment is a segment that toggles use.
func segment(id int) toggle.Segment {
	return toggle.Segment{ID: int64(id), Name: fmt.Sprint("Segment ", id), Constraints: []toggle.Constraint{
		{ContextName: "userId", Operator: toggle.OperatorStrStartsWith, Values: []string{"u-"}},
	}}
}

// compile publishes the snapshots of the environments.
func (d installed) compile(ctx context.Context) {
	c := compiler.New(d.client, d.tables, time.Now, rand.Reader, slog.New(slog.DiscardHandler))
	for _, environment := range []string{"development", delivered} {
		check(c.Compile(ctx, environment))
	}
}

// token creates a token for all projects of the environment, and returns its secret.
func (d installed) token(ctx context.Context, kind clienttokentable.Type) string {
	token, secret, err := clienttokentable.New(clienttokentable.Token{
		Name: "bench", Type: kind, Environment: delivered, CreatedAt: time.Now(),
	}, rand.Reader)
	check(err)
	table := d.tables[clienttokentable.Table]
	must(d.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: clienttokentable.Marshal(token)}))
	return secret.Reveal()
}

// measureDelivery measures how toggles reach applications.
func measureDelivery(ctx context.Context, o options) {
	measureVisibility(ctx, o)
	b := newDeliveryBench(ctx, o)
	defer b.Stop()
	b.measurePolls(ctx)
	b.measureStarts(ctx)
	b.fill(ctx, manyToggles)
	b.measureCompilation(ctx)
	b.measureMemory(ctx)
}

// measureVisibility measures, through `make run`, the delay from the response to a change until an application can
// download it.
func measureVisibility(ctx context.Context, o options) {
	s := startService(ctx, o, filepath.Join(o.disk, "delivery"))
	defer s.stop()
	d := installed{s.client, s.tables}
	d.putToggles(ctx, changedToggles)
	d.compile(ctx)
	token := d.token(ctx, clienttokentable.Backend)
	admin, application := dial(ctx, s.BaseURL), dial(ctx, s.ClientURL)
	_, tag := download(application, token, "")
	var lags []time.Duration
	for i := range min(o.Changes, changedToggles) {
		// The next read of the pointer must not have the same distance from each change.
		<-time.After(mathrand.N(250 * time.Millisecond))
		name, on := fmt.Sprintf("checkout-toggle-%07d", i), i%2 == 0
		path := fmt.Sprintf("/api/admin/projects/default/features/%s/environments/%s/%s", name, delivered,
			map[bool]string{true: "on", false: "off"}[on])
		must(admin.do(http.StatusOK, http.MethodPost, path, s.Users[0].PAT, ""))
		started := time.Now()
		changed := fmt.Sprintf(`"name":"%s","type":"release","enabled":%t`, name, on)
		for text := ""; !strings.Contains(text, changed); {
			<-time.After(2 * time.Millisecond)
			if time.Since(started) > lagPatience {
				check(fmt.Errorf("the change of %s is not visible after %s", name, lagPatience))
			}
			text, tag = download(application, token, tag)
		}
		lags = append(lags, time.Since(started))
	}
	printTable("From a change to what applications download", "  | p50 ms | p99 ms | max ms | goal p99 ms", [][]any{
		{"visible", percentile(lags, 0.5), percentile(lags, 0.99), percentile(lags, 1), 500},
	}, "The program of `make run`, as a process with its data in a folder; from the 200 of a switch (its body read) until "+
		"`GET %s` has the toggle in its new state. %d toggles, %d changes, one after another. An application polls with its "+
		"tag, 2 ms after each response.", featuresPath, changedToggles, len(lags))
}

// download sends the poll of an SDK that has the version with a tag. If there is a newer one, it returns its text and
// its tag.
func download(c *connection, token, tag string) (text, newTag string) {
	got, err := c.send(http.MethodGet, featuresPath, token, "", pollHeaders(tag)...)
	check(err)
	switch got.status {
	case http.StatusNotModified:
		return "", tag
	case http.StatusOK:
		return must(gunzip(got.body)), got.header.Get("ETag")
	}
	check(fmt.Errorf("%d: %s", got.status, got.body))
	return "", ""
}

// gunzip returns the text of a compressed body.
func gunzip(compressed []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// pollHeaders returns the headers of a poll.
func pollHeaders(tag string) []string {
	headers := []string{"Accept-Encoding: gzip", "Unleash-Client-Spec: 5.2.2"}
	if tag != "" {
		headers = append(headers, "If-None-Match: "+tag)
	}
	return headers
}

// urlEvent returns the event of a function URL for a request with a token. The headers are lines.
func urlEvent(method, path, token, body string, headers ...string) []byte {
	var event events.LambdaFunctionURLRequest
	check(json.Unmarshal(sampleEvent("client"), &event))
	event.Headers = map[string]string{"authorization": token, "content-type": "application/json"}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		event.Headers[strings.ToLower(name)] = value
	}
	event.RawPath, event.Body = path, body
	event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = method, path
	return must(json.Marshal(event))
}

// pollEvent returns the event of a poll.
func pollEvent(token, tag string) []byte {
	return urlEvent(http.MethodGet, featuresPath, token, "", pollHeaders(tag)...)
}
