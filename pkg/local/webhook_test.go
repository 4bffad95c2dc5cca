package local_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/event"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/bus"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/test/process"
)

var flips = flag.Int("flips", 2, "number of toggles whose flags change while the webhook refuses events")

// TestWebhookRefusesForTwoDays: the events are delivered once the webhook accepts them, each with the id of its first attempt. The clock is
// put forward when no message is visible.
func TestWebhookRefusesForTwoDays(t *testing.T) {
	t.Parallel()
	const refusal = 48 * time.Hour
	// A flip without a response is announced by the sweep of the next minute or the one after.
	wait, interval := 3*time.Minute+time.Duration(*flips)*20*time.Millisecond, 5*time.Millisecond+time.Duration(*flips)*10*time.Microsecond
	var mu sync.Mutex
	begin, forward := time.Now(), time.Duration(0)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(forward)
	}
	attempts, delivered, ids := map[string]int{}, map[string]int{}, map[string]string{} // ids by toggle
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, refused := r.Header.Get("Webhook-Id"), clock().Before(begin.Add(refusal))
		var e event.Event
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		attempts[id]++
		if strings.HasPrefix(e.Subject, "toggle-") { // seeded ones become stale while the clock is put forward
			ids[e.Subject] = id
		}
		if refused {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		delivered[id]++
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	service := localtest.Start(t, local.Config{DataDir: dir, WebhookURL: server.URL, Now: clock})
	createStaleToggles(t, service, *flips, begin.AddDate(0, 0, -20))
	send(t, service, http.MethodPut, "/api/admin/feature-types/release/lifetime", service.APIToken, `{"lifetimeDays":10}`)
	for left := 1; left > 0; {
		var next time.Time // when all messages are visible
		process.Await(t, "each message has been refused or delivered", interval, wait, func() (done bool) {
			mu.Lock()
			seen := len(ids)
			mu.Unlock()
			if seen < *flips {
				return false
			}
			left, next, done = hidden(t, dir, clock())
			return done
		})
		t.Logf("%d messages are left after %s", left, clock().Sub(begin).Round(time.Second))
		mu.Lock()
		forward = max(forward, time.Until(next))
		mu.Unlock()
	}
	mu.Lock()
	defer mu.Unlock()
	for toggle, id := range ids {
		if attempts[id] < 10 || delivered[id] == 0 {
			t.Errorf("%s: %d attempts, delivered %d times", toggle, attempts[id], delivered[id])
		}
	}
}

// database returns a client for the tables of a service.
func database(t *testing.T, service local.Running) (*dynamodb.Client, dynamo.Tables) {
	t.Helper()
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(service.DynamoDB.Endpoint),
	}, service.DynamoDB.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return client, dynamo.TablesByID(service.DynamoDB.Tables)
}

// createStaleToggles creates toggles of the type release, which has a lifetime of 40 days.
func createStaleToggles(t *testing.T, service local.Running, n int, created time.Time) {
	t.Helper()
	client, tables := database(t, service)
	first := feature.Feature{Name: "first", Project: "default", Type: "release", CreatedAt: created}
	if err := feature.NewStore(client, tables).Create(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	item, err := dynamo.Get(t.Context(), client, tables.Features, dynamo.Item{"name": dynamo.S(first.Name)})
	if err != nil {
		t.Fatal(err)
	}
	var actions []types.TransactWriteItem
	for i := range n {
		name := fmt.Sprint("toggle-", i)
		copied := maps.Clone(item)
		copied["name"], copied["staleness"] = dynamo.S(name), dynamo.S(feature.StalenessKey(first.Type, false, feature.Shard(name)))
		actions = append(actions, types.TransactWriteItem{Put: &types.Put{TableName: &tables.Features, Item: copied}})
	}
	for batch := range slices.Chunk(actions, 100) { // in transactions, which are fast on the engine
		if _, err := dynamo.Transact(t.Context(), client, batch); err != nil {
			t.Fatal(err)
		}
	}
}

// hidden returns the number of messages in the queue of the webhook and when all of them are visible. It returns false if one is visible now.
func hidden(t *testing.T, dir string, now time.Time) (n int, until time.Time, ok bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "events", "queue-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Backward(files) { // the first ones are handled first
		content, err := os.ReadFile(file)
		var m bus.Message
		if err != nil || json.Unmarshal(content, &m) != nil || !m.VisibleAt.After(now) { // or it is being replaced or deleted
			return 0, time.Time{}, false
		}
		n++
		if m.VisibleAt.After(until) {
			until = m.VisibleAt
		}
	}
	return n, until, true
}
