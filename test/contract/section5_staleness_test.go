package contract_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/app"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/engine/enginetest"
	"toggleadmin/pkg/local/localtest"
)

const day = 24 * time.Hour

// toggles are toggles of one test: their names as the test calls them, which nobody else's have.
type toggles struct {
	s      *service
	prefix string
	names  []string
}

func (s *service) toggles() *toggles {
	return &toggles{s: s, prefix: fmt.Sprintf("staleness-%d-", s.lastUser.Add(1))}
}

// add makes a toggle of a type and age.
func (g *toggles) add(t *testing.T, name, kind string, age time.Duration) {
	t.Helper()
	g.addFeature(t, feature.Feature{Name: name, Type: kind, CreatedAt: time.Now().Add(-age)})
}

func (g *toggles) addFeature(t *testing.T, f feature.Feature) {
	t.Helper()
	g.names = append(g.names, f.Name)
	f.Name, f.Project = g.prefix+f.Name, "default"
	must(t, g.s.features().Create(patient(t), f))
}

// change writes a toggle as the rest of the system does.
func (g *toggles) change(t *testing.T, name string, change func(*feature.Feature)) {
	t.Helper()
	_, err := g.s.features().Update(patient(t), g.prefix+name, func(f feature.Feature) feature.Feature { change(&f); return f })
	must(t, err)
}

// flagged are the toggles that the table says are potentially stale, in the order of their making.
func (g *toggles) flagged(t *testing.T) []string {
	t.Helper()
	flagged := []string{}
	for _, name := range g.names {
		f, err := g.s.features().Get(patient(t), g.prefix+name)
		must(t, err)
		if f.PotentiallyStale {
			flagged = append(flagged, name)
		}
	}
	return flagged
}

// want waits until exactly the toggles named are flagged: "within seconds".
func (g *toggles) want(t *testing.T, names ...string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); ; <-tick.C {
		diff := cmp.Diff(append([]string{}, names...), g.flagged(t))
		if diff == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after 10 seconds other toggles are flagged (-want +got): %s", diff)
		}
	}
}

// setLifetime makes the request of 4.3.
func (s *service) setLifetime(t *testing.T, kind, days string) {
	t.Helper()
	s.send(t, putLifetime(kind, `{"lifetimeDays":`+days+`}`).as(s.APIToken)).want(t, 200)
}

// TestSection5_PotentiallyStale: "its type's lifetime is a positive number of days, it is neither archived nor marked stale, and
// now ≥ createdAt + lifetime × 24 h." "It changes in both directions", "a change of the type's lifetime (DynamoDB stream, within seconds)".
func TestSection5_PotentiallyStale(t *testing.T) {
	t.Parallel()
	s := shared
	kind, other := s.featureType(t, nil), s.featureType(t, nil)
	g := s.toggles()
	g.add(t, "a year", kind, 365*day)
	g.add(t, "just 40 days", kind, 40*day)
	g.add(t, "not yet 40 days", kind, 40*day-time.Hour)
	g.add(t, "just 7 days", kind, 7*day)
	g.add(t, "not yet 7 days", kind, 7*day-time.Hour)
	g.add(t, "new", kind, 0)
	g.add(t, "of the future", kind, -time.Hour)
	g.addFeature(t, feature.Feature{Name: "archived", Type: kind, CreatedAt: time.Now().Add(-365 * day), Archived: true})
	g.addFeature(t, feature.Feature{Name: "marked stale", Type: kind, CreatedAt: time.Now().Add(-365 * day), Stale: true})
	g.add(t, "of another type", other, 365*day)
	for _, step := range []struct {
		days string
		want []string
	}{
		{"40", []string{"a year", "just 40 days"}},
		{"7", []string{"a year", "just 40 days", "not yet 40 days", "just 7 days"}},
		{"1", []string{"a year", "just 40 days", "not yet 40 days", "just 7 days", "not yet 7 days"}},
		{"100", []string{"a year"}},
		{"null", nil},
		{"40", []string{"a year", "just 40 days"}},
		{"0", nil},
		{"365", []string{"a year"}},
		{"2147483647", nil},
	} {
		s.setLifetime(t, kind, step.days)
		g.want(t, step.want...)
	}
	s.setLifetime(t, other, "1")
	g.want(t, "of another type")
}

// TestSection5_Defaults: kill switches and permissions have no lifetime and are never potentially stale, until they get one; a type's name
// is found in any letter case.
func TestSection5_Defaults(t *testing.T) {
	t.Parallel()
	s := start(t, options{events: true})
	g := s.toggles()
	for _, kind := range []string{"release", "experiment", "operational", "kill-switch", "permission"} {
		g.add(t, kind, kind, 1000*day)
	}
	s.setLifetime(t, "operational", "8")
	s.setLifetime(t, "RELEASE", "41")
	s.setLifetime(t, "Experiment", "41")
	g.want(t, "release", "experiment", "operational")
	s.setLifetime(t, "Kill-Switch", "1000")
	g.want(t, "release", "experiment", "operational", "kill-switch")
	s.setLifetime(t, "kill-switch", "null")
	g.want(t, "release", "experiment", "operational")
	s.setLifetime(t, "permission", "1")
	s.setLifetime(t, "operational", "0")
	g.want(t, "release", "experiment", "permission")
}

// TestSection5_CurrentLifetime: "read the type's current lifetime (never the record's)": after many changes at once, in any order, the flags
// are those of the lifetime that is stored.
func TestSection5_CurrentLifetime(t *testing.T) {
	t.Parallel()
	s := shared
	kind := s.featureType(t, nil)
	g := s.toggles()
	for i := range 10 {
		g.add(t, fmt.Sprint(i), kind, time.Duration(10*i+5)*day)
	}
	for _, days := range []int{30, 60, 90} {
		var requests sync.WaitGroup
		for i := range 20 {
			requests.Go(func() { s.setLifetime(t, kind, []string{"1", "null", "50", "2147483647"}[i%4]) })
		}
		requests.Wait()
		s.setLifetime(t, kind, fmt.Sprint(days))
		g.want(t, g.names[days/10:]...)
	}
}

// TestSection5_WritesClear: "Every write of a toggle that creates, re-types, archives, restores, marks or un-marks it as stale clears its
// flag; re-evaluation sets it where it is due."
func TestSection5_WritesClear(t *testing.T) {
	t.Parallel()
	s := shared
	kind, other := s.featureType(t, nil), s.featureType(t, nil)
	g := s.toggles()
	for _, name := range []string{"untouched", "moved", "archived", "restored", "marked", "unmarked", "re-typed"} {
		g.add(t, name, kind, 100*day)
	}
	s.setLifetime(t, kind, "50")
	g.want(t, g.names...)
	g.change(t, "moved", func(f *feature.Feature) { f.Project = "other" })
	for _, archived := range []bool{true, false} {
		g.change(t, "restored", func(f *feature.Feature) { f.Archived = archived })
		g.change(t, "unmarked", func(f *feature.Feature) { f.Stale = archived })
	}
	g.change(t, "archived", func(f *feature.Feature) { f.Archived = true })
	g.change(t, "marked", func(f *feature.Feature) { f.Stale = true })
	g.change(t, "re-typed", func(f *feature.Feature) { f.Type = other })
	// A sweep may come at any moment, and flags again what is due again.
	allowed := []string{"untouched", "moved", "restored", "unmarked"}
	for _, name := range g.flagged(t) {
		if !slices.Contains(allowed, name) {
			t.Errorf("%s is still flagged", name)
		}
	}
	s.setLifetime(t, kind, "51")
	g.want(t, allowed...)
	s.setLifetime(t, other, "51")
	g.want(t, append(allowed, "re-typed")...)
}

// TestSection5_UnknownType: "A toggle of an unknown type is never flagged", nor does it stay so when its type goes.
func TestSection5_UnknownType(t *testing.T) {
	t.Parallel()
	s := shared
	kind := s.featureType(t, nil)
	g := s.toggles()
	g.add(t, "of a type", kind, 100*day)
	g.add(t, "of an unknown type", "unknown-"+kind, 100*day)
	s.setLifetime(t, kind, "1")
	g.want(t, "of a type")
	s.remove(t, "FeatureTypes", dynamo.Item{"id": dynamo.S(kind)})
	g.want(t)
}

// TestSection5_Time: "the passing of time (a schedule, every minute)". The first sweep comes with the start; the stream's function is out of
// order, so it was the sweep.
func TestSection5_Time(t *testing.T) {
	t.Parallel()
	engine := enginetest.Start(t)
	serve := func(after time.Duration) (s *service, stop func()) {
		log := newLog()
		running, stop := localtest.StartStop(t, local.Config{
			Template: filepath.Join("..", "..", "template.yaml"), DynamoDBEndpoint: engine.Endpoint(), Stderr: log, RequestsOnly: after == 0,
			Now: func() time.Time { return time.Now().Add(after) },
			Functions: map[string]app.Constructor{"reevaluate-staleness": func(*app.Env) (lambda.Handler, error) {
				return app.Event(func(context.Context, any) (any, error) { return nil, nil }), nil //nolint:nilnil // the answer is JSON's null
			}},
		})
		return newService(running, log, shared.validator), stop
	}
	now, stop := serve(0)
	g := now.toggles()
	for _, kind := range []string{"release", "operational", "permission"} {
		g.add(t, kind, kind, 0)
	}
	now.setLifetime(t, "operational", "10")
	if got := g.flagged(t); len(got) > 0 {
		t.Errorf("%s flagged before their time", strings.Join(got, ", "))
	}
	stop()
	_, stop = serve(10*day + time.Second)
	g.want(t, "operational")
	stop()
	_, stop = serve(40*day + time.Second)
	g.want(t, "release", "operational")
	stop()
}
