package crash_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	testprocess "toggleadmin/test/process"
)

// toggles is how many the test of staleness has; make soak asks for 100,000.
var toggles = flag.Int("toggles", 4000, "toggles whose flags change while the service is killed") //nolint:gochecknoglobals // a flag of the tests

// aging is the type of the toggles.
const aging = "aging"

// TestKillWhileFlagging kills the service in the middle of the flips that a lifetime's change makes, over and over, in both directions.
// Started again, it goes on by itself until every flag is as it should be.
func TestKillWhileFlagging(t *testing.T) {
	t.Parallel()
	program, dir := build(t), t.TempDir()
	p := launch(t, program, dir)
	client := engineClient(t, &p.service)
	if err := featuretype.NewStore(client, dynamo.TablesByID(p.service.DynamoDB.Tables)).Create(t.Context(), featuretype.FeatureType{ID: aging, Position: 9}); err != nil {
		t.Fatal(err)
	}
	fillToggles(t, client, p, *toggles)
	between, soon := 0, 3*patience+time.Duration(*toggles)*5*time.Millisecond // the next sweep may be a minute away
	for round, step := range []struct {
		days string
		want int
	}{{"30", *toggles / 2}, {"null", 0}, {"1", *toggles}, {"30", *toggles / 2}} {
		before := flagged(t, client, p)
		setLifetime(t, p, step.days)
		middle, flips := before, 1+int(rand.Float64()*0.6*float64(max(step.want-before, before-step.want)))
		testprocess.Await(t, fmt.Sprint(flips, " flips"), 5*time.Millisecond, soon, func() bool {
			middle = flagged(t, client, p)
			return max(middle-before, before-middle) >= flips
		})
		p.kill(t, round%2 == 0)
		p = launch(t, program, dir)
		client = engineClient(t, &p.service)
		started := time.Now()
		testprocess.Await(t, fmt.Sprint(step.want, " flags"), 100*time.Millisecond, soon, func() bool {
			return flagged(t, client, p) == step.want
		})
		t.Logf("lifetime %s: from %d flags to %d, killed at %d, right %s after the restart",
			step.days, before, step.want, middle, time.Since(started).Round(time.Millisecond))
		if middle != step.want {
			between++
		}
	}
	if between == 0 {
		t.Error("each kill came after the last flip")
	}
	checkFlags(t, client, p, *toggles)
	p.stop(t)
}

// setLifetime makes the request.
func setLifetime(t *testing.T, p *process, days string) {
	t.Helper()
	c := newCrowd(t, p.service.BaseURL, false)
	o, answer := c.send(http.MethodPut, "/api/admin/feature-types/"+aging+"/lifetime", p.service.APIToken, `{"lifetimeDays":`+days+`}`, http.StatusOK)
	if o != acknowledged {
		t.Fatalf("lifetime %s: %s", days, answer)
	}
}

// fillToggles makes toggles as pkg/feature stores them: the even ones are 60 days old, the odd ones 10.
func fillToggles(t *testing.T, client *dynamodb.Client, p *process, n int) {
	t.Helper()
	table := p.service.DynamoDB.Tables["Features"]
	now := time.Now()
	const batch, writers = 100, 4
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for start := w * batch; start < n && !t.Failed(); start += writers * batch {
				var actions []types.TransactWriteItem
				for i := start; i < min(start+batch, n); i++ {
					name, age := fmt.Sprint("toggle-", i), 60-50*(i%2)
					actions = append(actions, types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: dynamo.Item{
						"name": dynamo.S(name), "project": dynamo.S("default"), "type": dynamo.S(aging), "createdAt": dynamo.Time(now.AddDate(0, 0, -age)),
						"archived": dynamo.Bool(false), "stale": dynamo.Bool(false), "potentiallyStale": dynamo.Bool(false), "contextFields": dynamo.Strings(nil),
						"staleness": dynamo.S(feature.StalenessKey(aging, false, feature.Shard(name))),
					}}})
				}
				if _, err := dynamo.Transact(t.Context(), client, actions); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// flagged counts, in the index, the toggles that are flagged.
func flagged(t *testing.T, client *dynamodb.Client, p *process) (sum int) {
	t.Helper()
	table := p.service.DynamoDB.Tables["Features"]
	for shard := range feature.Shards {
		pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
			TableName: &table, IndexName: aws.String("staleness"), Select: types.SelectCount, KeyConditionExpression: aws.String("staleness = :key"),
			ExpressionAttributeValues: dynamo.Item{":key": dynamo.S(feature.StalenessKey(aging, true, shard))},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sum += int(page.Count)
		}
	}
	return sum
}

// checkFlags holds every toggle against the lifetime of 30 days, and its flag against its place in the index.
func checkFlags(t *testing.T, client *dynamodb.Client, p *process, n int) {
	t.Helper()
	found := 0
	for item, err := range dynamo.Scan(t.Context(), client, p.service.DynamoDB.Tables["Features"]) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(item.String("name"), "toggle-") { // the seed's
			continue
		}
		found++
		due := item.Time("createdAt").Before(time.Now().AddDate(0, 0, -30))
		if item.Bool("potentiallyStale") != due || item.String("staleness") != feature.StalenessKey(aging, due, feature.Shard(item.String("name"))) {
			t.Errorf("want %v: %v", due, item)
		}
	}
	if found != n {
		t.Errorf("%d toggles, not %d", found, n)
	}
}
