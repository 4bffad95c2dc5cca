package traffic_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// days returns one successful request of a path on each of n days, from 1 November 2026.
func days(path string, n int) []traffic.Usage {
	var all []traffic.Usage
	for i := range n {
		all = append(all, traffic.Usage{APIPath: path, Day: day(11, 1+i), Counts: traffic.Counts{Successful: 1}})
	}
	return all
}

func record(ctx context.Context, db *database.Database, client *dynamodb.Client, b *traffic.Batch) (traffic.Recorded,
	error) {
	return traffic.NewStore(client, db.Tables).Record(ctx, b, noon())
}

func report(tb testing.TB, db *database.Database, periods ...string) []traffic.Usage {
	tb.Helper()
	var all []traffic.Usage
	for _, period := range periods {
		usage, err := traffic.NewStore(db.Client, db.Tables).Report(tb.Context(), period)
		assert.OK(tb, err)
		all = append(all, usage...)
	}
	return all
}

func TestRecord(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	b := &traffic.Batch{ID: "b", Shard: 5, Usage: []traffic.Usage{
		usage("/a/{id}", "2026-11-30", 3, 2, 1),
		usage("/a/{id}", "2026-12-01", 0, 0, 4),
	}}
	for _, want := range []traffic.Recorded{{Counted: 10, Writes: 1}, {Duplicate: 10, Writes: 1},
		{Duplicate: 10, Writes: 1}} {
		got, err := record(t.Context(), db, db.Client, b)
		assert.OK(t, err)
		assert.Equal(t, want, got)
	}
	assert.Equal(t, b.Usage, report(t, db, "2026-11", "2026-12"))
	marker := db.Get(t, db.Tables["Traffic"], dynamo.Item{"period": dynamo.S("batch#b"), "pathDayShard": dynamo.S("-")})
	assert.Equal(t, noon().AddDate(0, 0, 30).Unix(), marker.Int("expiresAt"))
	counter := dynamo.Item{"period": dynamo.S("2026-12"), "pathDayShard": dynamo.S("/a/{id}#2026-12-01#5")}
	assert.Equal(t, int64(4), db.Get(t, db.Tables["Traffic"], counter).Int("serverErrors"))
	assert.Equal(t, 3, len(db.Scan(t, db.Tables["Traffic"])))
}

// A transaction contains at most 100 items, one of which is the marker.
func TestRecordInParts(t *testing.T) {
	t.Parallel()
	for items, parts := range map[int]int{0: 0, 99: 1, 100: 2, 199: 3} {
		db := database.New(t)
		b := &traffic.Batch{ID: "b", Usage: days("/a", items)}
		for _, want := range []traffic.Recorded{{Counted: items, Writes: parts}, {Duplicate: items, Writes: parts}} {
			got, err := record(t.Context(), db, db.Client, b)
			assert.OK(t, err)
			assert.Equal(t, want, got)
		}
		assert.Equal(t, items+parts, len(db.Scan(t, db.Tables["Traffic"])))
	}
}

// Each of the three parts of a batch fails once, before or after it is written. The next delivery counts what is left.
func TestRecordIsInterrupted(t *testing.T) {
	t.Parallel()
	for i := range 6 {
		db := database.New(t)
		ctx, client := db.Interrupted(t.Context(), t, i/2+1, i%2 == 1)
		b := &traffic.Batch{ID: "b", Usage: days("/a", 200)}
		if _, err := record(ctx, db, client, b); err == nil {
			t.Error("no error")
		}
		counted := min((i+1)/2*99, 200)
		got, err := record(t.Context(), db, db.Client, b)
		assert.OK(t, err)
		assert.Equal(t, traffic.Recorded{Counted: 200 - counted, Duplicate: counted, Writes: 3}, got)
	}
}

// put writes a counter, with an attribute that makes the item larger.
func put(tb testing.TB, db *database.Database, key string, n int64, size int) {
	tb.Helper()
	db.Put(tb, db.Tables["Traffic"], dynamo.Item{
		"period": dynamo.S("2026-11"), "pathDayShard": dynamo.S(key), "successfulRequests": dynamo.N(n),
		"clientErrors": dynamo.N(2 * n),
		"serverErrors": dynamo.N(3 * n), "padding": dynamo.S(strings.Repeat("x", size)),
	})
}

// The shards of a path and day are added up, even if they are on different pages of the result.
func TestReport(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	for _, key := range []string{"/b#c#2026-11-30", "/a/b#2026-11-01", "/a#2026-11-10", "/a#2026-11-02"} {
		for shard := range traffic.Shards {
			put(t, db, fmt.Sprint(key, "#", shard), 1<<40, 50_000)
		}
	}
	assert.Equal(t, []traffic.Usage{
		usage("/a", "2026-11-02", 8<<40, 16<<40, 24<<40),
		usage("/a", "2026-11-10", 8<<40, 16<<40, 24<<40),
		usage("/a/b", "2026-11-01", 8<<40, 16<<40, 24<<40),
		usage("/b#c", "2026-11-30", 8<<40, 16<<40, 24<<40),
	}, report(t, db, "2026-11", "2026-10"))
}

func TestReportRefusesUnknownKeys(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	for _, key := range []string{"/a", "/a#0", "/a#2026-11-31#0", "/a#2026-11-30#x"} {
		put(t, db, key, 1, 0)
		if usage, err := traffic.NewStore(db.Client, db.Tables).Report(t.Context(), "2026-11"); err == nil {
			t.Errorf("%s: %+v", key, usage)
		}
		db.Delete(t, db.Tables["Traffic"], dynamo.Item{"period": dynamo.S("2026-11"), "pathDayShard": dynamo.S(key)})
	}
}
