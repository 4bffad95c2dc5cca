package crash_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/test/process"
)

var toggles = flag.Int("toggles", 1000, "number of toggles whose flags change while the service is killed")

var cycles = flag.Int("cycles", 1, "number of cycles of three changes of the lifetime, each with a kill")

// aging is the type of the toggles.
const aging = "aging"

// TestKillWhileFlagging kills the service while a changed lifetime changes flags. After the restart the service changes the rest. Each change
// is announced.
func TestKillWhileFlagging(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	b, flips := startBus(t), 0
	s := start(t, dir, busVariable+"="+b.URL)
	must(t, featuretype.NewStore(s.db, s.tables).Create(t.Context(), featuretype.FeatureType{ID: aging, Position: 9}))
	createToggles(s, *toggles)
	wait := 3*timeout + time.Duration(*toggles)*5*time.Millisecond // the next sweep may be a minute away
	interrupted := 0
	steps := []struct {
		days string
		want int
	}{{"30", *toggles / 2}, {"null", 0}, {"1", *toggles}}
	for round := range 3**cycles + 1 {
		step := steps[round%3]
		before := s.flagged(true)
		s.get(http.MethodPut, "/api/admin/feature-types/"+aging+"/lifetime", s.APIToken, `{"lifetimeDays":`+step.days+`}`, &struct{}{})
		middle, changes := before, 1+int(rand.Float64()*0.6*float64(max(step.want-before, before-step.want)))
		process.Await(t, fmt.Sprint(changes, " changes"), 5*time.Millisecond, wait, func() bool {
			middle = s.flagged(true)
			return max(middle-before, before-middle) >= changes
		})
		s.kill(round%2 == 0)
		s = start(t, dir, busVariable+"="+b.URL)
		process.Await(t, fmt.Sprint(step.want, " flags"), 100*time.Millisecond, wait, func() bool { return s.flagged(true) == step.want })
		t.Logf("lifetime %s: from %d flags to %d, killed at %d", step.days, before, step.want, middle)
		flips += max(step.want-before, before-step.want)
		if middle != step.want {
			interrupted++
		}
	}
	if interrupted == 0 {
		t.Error("each kill came after the last change")
	}
	checkFlags(s, *toggles)
	b.announceRest(s)
	s.stop()
	b.check(t, flips)
}

// createToggles creates toggles. Even ones are 60 days old, odd ones 10.
func createToggles(s *service, n int) {
	s.t.Helper()
	store, now := feature.NewStore(s.db, s.tables), time.Now()
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < n && !s.t.Failed(); i += writers {
				if err := store.Create(s.t.Context(), feature.Feature{
					Name: fmt.Sprint("toggle-", i), Project: "default", Type: aging, CreatedAt: now.AddDate(0, 0, 50*(i%2)-60),
				}); err != nil {
					s.t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s.t.Failed() {
		s.t.FailNow()
	}
}

// flagged returns the number of toggles in the staleness index with a flag.
func (s *service) flagged(flag bool) (sum int) {
	s.t.Helper()
	for shard := range feature.Shards {
		pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
			TableName: &s.tables.Features, IndexName: aws.String("staleness"), Select: types.SelectCount,
			KeyConditionExpression:    aws.String("staleness = :key"),
			ExpressionAttributeValues: dynamo.Item{":key": dynamo.S(feature.StalenessKey(aging, flag, shard))},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(s.t.Context())
			must(s.t, err)
			sum += int(page.Count)
		}
	}
	return sum
}

// checkFlags compares every flag with the lifetime of 30 days, and the flags with the index.
func checkFlags(s *service, n int) {
	s.t.Helper()
	all, err := feature.NewStore(s.db, s.tables).List(s.t.Context())
	must(s.t, err)
	found := map[bool]int{}
	for i := range all {
		if f := &all[i]; f.Type == aging {
			found[f.PotentiallyStale]++
			if due := f.CreatedAt.Before(time.Now().AddDate(0, 0, -30)); f.PotentiallyStale != due {
				s.t.Errorf("%s is potentially stale: %t", f.Name, f.PotentiallyStale)
			}
		}
	}
	if found[true] != s.flagged(true) || found[false] != s.flagged(false) || found[true]+found[false] != n {
		s.t.Errorf("%d and %d toggles are in the table, %d and %d in the index", found[true], found[false], s.flagged(true), s.flagged(false))
	}
}
