package world

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
)

// usageState is what the world knows about the use of toggles.
type usageState struct {
	parts map[string]*countedPart // by partition and item
}

func newUsageState() usageState {
	return usageState{parts: map[string]*countedPart{}}
}

// countedPart is a tally that a process has written.
type countedPart struct {
	process    string
	hour       time.Time
	isFrontend bool
	tally      usage.Tally
}

// reports is what a process that serves applications was told. Each report is about one toggle that was on once.
type reports struct {
	sent     map[string]int64 // by environment
	accepted map[string][]time.Time
	askedAt  time.Time // when the last request began that the process has answered
}

func newReports() reports {
	return reports{sent: map[string]int64{}, accepted: map[string][]time.Time{}}
}

// lostAfter is how long before its last request a process may have accepted reports that are lost when it crashes.
const lostAfter = 10 * time.Second

// report lets an application report the use of a toggle to a process, in one of the forms. The toggle can be one that does
// not exist.
func (a *actor) report(on *server) {
	t := choose(a, a.applicationTokens()...)
	name := choose(a, append(slices.Clone(a.toggles.names), "removed")...)
	application := choose(a, "shop", "blog")
	stop := time.Now().Add(-choose(a, 0, 0, time.Minute, time.Hour, 25*time.Hour))
	body := object{"appName": application, "instanceId": a.name, "bucket": object{
		"start": stop.Add(-time.Minute), "stop": stop, "toggles": object{name: object{"yes": 1, "no": 0}},
	}}
	request, success := "POST /api/client/metrics", http.StatusAccepted
	if t.kind == clienttokentable.Frontend {
		request, success = "POST /api/frontend/client/metrics", http.StatusOK
	}
	switch a.IntN(4) {
	case 0: // an evaluation by the service is counted
		request, success = "POST /ofrep/v1/evaluate/flags/"+name, http.StatusOK
		body = object{"context": object{"appName": application}}
	case 1:
		if t.kind == clienttokentable.Backend {
			request, body = "POST /api/client/metrics/bulk", a.bulk(t, application, name, stop)
		}
	}
	on.reports.sent[t.environment]++
	begun := time.Now()
	recorder := a.requestAs(on, t, request, body, clienttokentable.Backend, clienttokentable.Frontend)
	switch {
	case on.dead: // it can have counted the report
	case recorder == nil:
		on.reports.sent[t.environment]--
	case recorder.Code == success, recorder.Code == http.StatusNotFound && strings.HasPrefix(request, "POST /ofrep"):
		on.reports.accepted[t.environment] = append(on.reports.accepted[t.environment], begun)
	default:
		a.fail("%s answers a report with %d: %s", on.name, recorder.Code, recorder.Body)
	}
}

// bulk returns a report of Unleash Edge about the use of a toggle. What it says of another environment is not counted.
func (a *actor) bulk(t *applicationToken, application, name string, at time.Time) object {
	metric := func(environment string) object {
		return object{
			"featureName": name, "appName": application, "environment": environment, "timestamp": at, "yes": 1, "no": 0,
		}
	}
	metrics := []object{metric(t.environment)}
	if other := choose(a, environmentNames...); other != t.environment {
		metrics = append(metrics, metric(other))
	}
	return object{
		"applications": []object{{"appName": application, "environment": t.environment, "instanceId": a.name}},
		"metrics":      metrics,
	}
}

// request sends a request to a process, which can crash meanwhile. It returns false then.
func (a *actor) request(on *server, r *http.Request) (*httptest.ResponseRecorder, bool) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	begun := time.Now()
	recorder := httptest.NewRecorder()
	done := make(chan struct{})
	a.spawn(func() {
		defer close(done)
		if err := on.handler.Serve(recorder, r.WithContext(ctx)); err != nil {
			lambdahttp.WriteError(recorder, nil, "", err)
		}
	})
	select {
	case <-done:
	case <-on.ended:
		cancel()
		<-done
	}
	a.turn(a.name)
	if on.dead {
		return nil, false
	}
	on.reports.askedAt = begun
	return recorder, true
}

// changedUsage checks a change of the table Usage: a part belongs to one process, only grows, and no process writes more
// than it was told.
func (w *World) changedUsage(c change) {
	partition, item := c.item.String(usagetable.AttributePartition), c.item.String(usagetable.AttributeItem)
	kind, _, _ := strings.Cut(item, "#")
	isTally := kind == string(usagetable.KindTally) || kind == string(usagetable.KindFrontendTally)
	if c.next == nil || !isTally || !strings.HasPrefix(partition, "hour#") {
		return
	}
	hour, err := time.Parse("2006-01-02T15", strings.TrimPrefix(partition, "hour#"))
	w.must(err)
	next := &countedPart{process: w.engine.caller.process.name, hour: hour, tally: decodeTally(c.next)}
	next.isFrontend = kind == string(usagetable.KindFrontendTally)
	before := w.usage.parts[partition+item]
	if before != nil && before.process != next.process {
		w.fail("%s overwrites the part %s of %s", next.process, item, before.process)
	}
	if before != nil && total(next.tally) < total(before.tally) {
		w.fail("%s writes the part %s with %v, after %v", next.process, item, next.tally, before.tally)
	}
	w.usage.parts[partition+item] = next
	for _, on := range w.delivery.servers {
		if on.name == next.process {
			w.checkCounted(on)
		}
	}
}

// checkCounted checks that a process has not written more than it was told.
func (w *World) checkCounted(on *server) {
	for environment, counted := range w.countedBy(on) {
		if told := on.reports.sent[environment]; counted > told {
			w.fail("%s was told of %d toggles in %s, and counts %d", on.name, told, environment, counted)
		}
	}
}

// countedBy returns what a process has written, by environment.
func (w *World) countedBy(on *server) map[string]int64 {
	counted := map[string]int64{}
	for key, part := range w.usage.parts {
		if part.process == on.name {
			counted[strings.Split(key, "#")[2]] += total(part.tally)
		}
	}
	return counted
}

// changedLastSeen checks when applications last used a toggle: only the sweep changes it, it does not go back, it is
// not before the creation of the toggle, which can have the name of an earlier one, and the sweep changes nothing else.
func (w *World) changedLastSeen(c change) {
	if c.old == nil || c.next == nil {
		return
	}
	name, by := c.item.String("name"), w.engine.caller.process.name
	before, after := c.old.String(featuretable.AttributeLastSeen), c.next.String(featuretable.AttributeLastSeen)
	first, firstBefore := c.next.String(featuretable.AttributeFirstSeen), c.old.String(featuretable.AttributeFirstSeen)
	if !strings.HasPrefix(by, "sweep-usage/") {
		if before != after || firstBefore != first {
			w.fail("%s changes when applications used %s from %q, %q to %q, %q", by, name, firstBefore, before, first, after)
		}
		return
	}
	old, next := maps.Clone(c.old), maps.Clone(c.next)
	for _, attribute := range []string{featuretable.AttributeFirstSeen, featuretable.AttributeLastSeen} {
		delete(old, attribute)
		delete(next, attribute)
	}
	if !reflect.DeepEqual(old, next) {
		w.fail("%s changes %s from %v to %v", by, name, c.old, c.next)
	}
	seen, earlier := featuretable.DecodeTimes(after), featuretable.DecodeTimes(before)
	want := maps.Clone(seen) // of environments in which applications have not used it before
	for environment, at := range featuretable.DecodeTimes(firstBefore) {
		if at.Before(want[environment]) || want[environment].IsZero() {
			want[environment] = at
		}
	}
	if first != featuretable.EncodeTimes(want) {
		w.fail("%s stores that applications first used %s at %q after %q, and last at %q", by, name, first, firstBefore, after)
	}
	for environment, at := range seen {
		created := c.next.String(featuretable.AttributeCreatedAt)
		if !at.Equal(earlier[environment]) && datetime.Format(at) < created {
			w.fail("%s stores that applications used %s at %s, but it was created at %s", by, name, at, created)
		}
	}
	for environment, at := range earlier {
		if seen[environment].Before(at) {
			w.fail("%s changes when applications last used %s from %q to %q", by, name, before, after)
		}
	}
}

func decodeTally(item dynamo.Item) usage.Tally {
	r, err := gzip.NewReader(bytes.NewReader(item.Bytes("content")))
	if err != nil {
		panic(err)
	}
	tally := usage.NewTally()
	if err := json.NewDecoder(r).Decode(&tally); err != nil {
		panic(err)
	}
	return tally
}

// total returns how many reports a tally counts.
func total(t usage.Tally) (n int64) {
	for _, by := range t.Features {
		n += by.Total().Yes + by.Total().No
	}
	for _, by := range t.Unknown {
		for _, reports := range by {
			n += reports
		}
	}
	return n
}

// checkLost checks that a process has written what it accepted, but for its last seconds if it has crashed, and for
// what it could not write for almost a day.
func (w *World) checkLost(on *server) {
	counted := w.countedBy(on)
	for environment, accepted := range on.reports.accepted {
		if !slices.Contains(w.existingEnvironments(), environment) {
			continue
		}
		safe := slices.DeleteFunc(slices.Clone(accepted), func(at time.Time) bool {
			return on.dead && at.After(on.reports.askedAt.Add(-lostAfter)) || time.Since(at) > usagetable.Accepted-2*time.Hour
		})
		if on.dead && on.unreliable() {
			continue
		}
		if counted[environment] < int64(len(safe)) {
			w.fail("%s has accepted %d reports about %s, of which %d may not be lost, and counts %d", on.name, len(accepted),
				environment, len(safe), counted[environment])
		}
	}
}

// unreliable reports whether a call of the process has failed, so that it can have written less.
func (on *server) unreliable() bool { return on.broken.Load() || on.refused }

// sweepUsage invokes the sweep of usage.
func (w *World) sweepUsage() bool {
	_, err := w.invoke(context.Background(), "sweep-usage", []byte("{}"))
	return err == nil
}

// checkUsage checks, when nothing happens any more, that what processes have accepted is counted, and that the merged
// hours are the sums of their parts.
func (w *World) checkUsage() {
	if !w.delivers || w.over {
		return
	}
	w.sleep("what is not written yet", lostAfter+time.Second)
	last := &actor{World: w, Rand: w.random(16), name: applications[0]}
	for _, on := range w.delivery.servers {
		if !on.dead {
			_, ctx := last.begin()
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/client/features", nil)
			r.Header.Set("Authorization", w.delivery.installed[0].token.secret)
			last.request(on, r)
		}
	}
	for _, on := range slices.Concat(w.delivery.servers, w.delivery.crashed) {
		w.checkLost(on)
	}
	part := w.lastPart()
	broken := w.upTo(2, 22) == 0 && part != nil && part.isKept()
	if broken {
		w.breakTally(part.hour)
	}
	settled := time.Now().Truncate(time.Hour).Add(time.Hour + 3*time.Minute)
	w.sleep("the end of the hour", time.Until(settled))
	if w.sweepUsage() == broken && !w.over {
		w.fail("the last sweep of usage fails: %t, and a tally cannot be read: %t", !broken, broken)
	}
	w.checkMerged()
}

// lastPart returns a part of the last hour that has one, or nil.
func (w *World) lastPart() (last *countedPart) {
	for _, part := range w.usage.parts {
		if last == nil || part.hour.After(last.hour) {
			last = part
		}
	}
	return last
}

// isKept reports whether a sweep that is the only one after a long time still finds the part.
func (p *countedPart) isKept() bool { return time.Since(p.hour) < usagetable.PartsKept-time.Hour }

// breakTally adds a tally that cannot be read to an hour, and loses the records of the hour, which nothing in the service
// does.
func (w *World) breakTally(hour time.Time) {
	p := w.newProcess("operator/tally")
	p.direct = true
	client, err := dynamo.NewClient(p.config(), "")
	w.must(err)
	item, err := usagetable.MarshalPart(usagetable.Part{
		Kind: usagetable.KindTally, Hour: hour, Environment: environmentNames[0], ID: "0", Writes: 1,
		WrittenAt: time.Now(),
	}, usage.NewTally())
	w.must(err)
	item["content"] = dynamo.B([]byte("broken"))
	w.restores.copying = true
	table := w.tables[usagetable.Table]
	_, err = client.PutItem(context.Background(), &sdk.PutItemInput{TableName: &table, Item: item})
	w.must(err)
	for _, item := range w.db.Items(usagetable.Table) {
		partition := item.String(usagetable.AttributePartition)
		if (partition == "merged" || strings.HasPrefix(partition, "feature#")) &&
			strings.HasPrefix(item.String(usagetable.AttributeItem), hour.Format("2006-01-02T15")) {
			_, err := client.DeleteItem(context.Background(), &sdk.DeleteItemInput{TableName: &table, Key: dynamo.Item{
				usagetable.AttributePartition: item[usagetable.AttributePartition],
				usagetable.AttributeItem:      item[usagetable.AttributeItem],
			}})
			w.must(err)
		}
	}
	w.restores.copying = false
}

// anyone stands for the applications that have reported with frontend tokens. Records name some of them.
const anyone = ""

// isSum reports whether a record is the sum of tallies.
func isSum(record, tallies usage.ByApplication) bool {
	for application, want := range tallies {
		if got := record[application]; application != anyone && (got.Yes < want.Yes || got.No < want.No) {
			return false
		}
	}
	_, has := tallies[anyone]
	return reflect.DeepEqual(record.Total(), tallies.Total()) && (has || reflect.DeepEqual(record, tallies))
}

// checkMerged checks that each hour that has ended is merged, and that its records are the sum of its parts.
func (w *World) checkMerged() {
	parts, merged := map[string]usage.ByApplication{}, map[string]usage.ByApplication{}
	for key, part := range w.usage.parts {
		if !part.isKept() {
			continue
		}
		for feature, by := range part.tally.Features {
			at := fmt.Sprint(feature, " ", part.hour.Format(time.RFC3339), " ", strings.Split(key, "#")[2])
			if parts[at] == nil {
				parts[at] = usage.ByApplication{}
			}
			for application, counts := range by {
				if part.isFrontend { // applications that are not known yet are counted together
					application = anyone
				}
				parts[at].Add(application, counts)
			}
		}
	}
	for _, item := range w.db.Items(usagetable.Table) {
		feature, ok := strings.CutPrefix(item.String(usagetable.AttributePartition), "feature#")
		if !ok {
			continue
		}
		r, err := usagetable.UnmarshalRecord(item)
		w.must(err)
		if time.Since(r.Hour) >= usagetable.PartsKept-time.Hour {
			continue
		}
		merged[fmt.Sprint(feature, " ", r.Hour.Format(time.RFC3339), " ", r.Environment)] = r.Applications
	}
	for _, at := range slices.Sorted(maps.Keys(parts)) {
		if !isSum(merged[at], parts[at]) {
			w.fail("the usage of %s is %s, but its parts add up to %s", at, encode(merged[at]), encode(parts[at]))
		}
	}
	for _, at := range slices.Sorted(maps.Keys(merged)) {
		if parts[at] == nil {
			w.fail("the usage of %s is %v, but no process has counted it", at, merged[at])
		}
	}
}
