package world

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/platform/dynamo"
)

// engineState is what the world knows about the calls of DynamoDB.
type engineState struct {
	caller  *call    // that is carried out
	changes []change // that it has written

	unreadable  string // a table that cannot be read now
	unavailable string // a table that sweeps of change requests can neither read nor write now
}

// change is a change of an item.
type change struct {
	table     string
	old, next dynamo.Item
	item      dynamo.Item // the next one, or the old one of a deletion
}

// maxLag is how late an index or a read that is not consistent shows a write at most.
const maxLag = 3 * time.Second

// lag is how late an index or a read that is not consistent shows a write.
func (w *World) lag(table, index, key string, version int64) time.Duration {
	h := mix(w.Seed, hashOf(table+index+key), uint64(version))
	if index != "" && h%4 > 0 {
		return 0
	}
	return time.Duration(h % uint64(maxLag))
}

// flipped matches the toggles of the transaction of a re-evaluation.
var flipped = regexp.MustCompile(`"Key":{"name":{"S":"([^"]*)"}}`)

// reject responds with an error of DynamoDB that means that nothing was written.
func (c *call) reject() bool {
	w := c.w
	switch {
	case c.sweeps() && w.engine.unavailable != "" && tableOf(string(c.body)) == w.engine.unavailable,
		c.name == "Query" && tableOf(string(c.body)) == w.engine.unreadable:
		c.refuse(0, `ThrottlingException","message":"Throughput exceeds the current capacity"`)
	case c.chance(throttled, 0.005, 0.005) || c.chance(throttled, 0.9, 0.9) &&
		w.storm(throttled, 10*time.Second, tableOf(string(c.body))) ||
		w.outage(throttled, 45*time.Second, tableOf(string(c.body))):
		c.refuse(0, `ThrottlingException","message":"Throughput exceeds the current capacity"`)
	case c.name == "TransactWriteItems" && c.chance(conflict, 0, 0.25):
		var wait time.Duration
		if names := flipped.FindAllSubmatch(c.body, -1); c.reevaluates() && names != nil { // somebody changes one, or a type
			other := &actor{World: w, Rand: w.random(c.key), name: fmt.Sprintf("operator-%x", c.key)}
			name := string(names[other.IntN(2)*other.IntN(len(names))][1])
			change := func(string) { other.changeLifetime() }
			if slices.Contains(w.toggles.names, name) {
				change = choose(other, other.changeOne, func(name string) { other.putToggle(name, false) }, change)
			}
			wait = within(other.Rand, 80*time.Millisecond)
			w.spawn(func() { change(name) })
		}
		reasons := strings.Repeat(`,{"Code":"None"}`, bytes.Count(c.body, []byte(`"TableName"`))-1)
		c.refuse(wait, `TransactionCanceledException","CancellationReasons":[{"Code":"TransactionConflict"}`+reasons+`]`)
	case c.chance(conflict, 0, 0.02):
		c.refuse(0, `TransactionConflictException","message":"Transaction is ongoing for the item"`)
	default:
		return false
	}
	return true
}

// refuse responds after a time with an error of DynamoDB: the end of its JSON.
func (c *call) refuse(wait time.Duration, text string) {
	c.w.trace(c, text)
	c.refused = true
	c.status, c.out = http.StatusBadRequest, []byte(`{"__type":"com.amazonaws.dynamodb.v20120810#`+text+"}")
	c.w.after(wait, c.finish)
}

func tableOf(request string) string {
	_, name, _ := strings.Cut(request, `"TableName":"`)
	name, _, _ = strings.Cut(name, `"`)
	return name
}

func shortened(text string, n int) string {
	if len(text) > n {
		return text[:n] + "…"
	}
	return text
}

// prepareEngine connects DynamoDB with the checks and the streams.
func (w *World) prepareEngine() {
	w.triggers.streams = map[string][]*stream{}
	for i := range w.template.Functions {
		f := &w.template.Functions[i]
		for _, m := range f.Streams {
			if f.Name == compileSnapshots && !w.delivers {
				continue
			}
			w.triggers.streams[m.Table] = append(w.triggers.streams[m.Table], &stream{Stream: m, function: f.Name})
		}
	}
	w.db.Written = func(table string, old, next dynamo.Item) {
		item := next
		if next == nil {
			item = old
		}
		w.engine.changes = append(w.engine.changes, change{table, old, next, item})
	}
}

// written checks the changes that a call has made, and starts what reads the streams of their tables.
func (w *World) written() {
	if w.restores.copying {
		w.engine.changes = nil
	}
	w.checkRequests()
	for _, c := range w.engine.changes {
		w.checkWritten(c)
		for _, s := range w.triggers.streams[c.table] {
			w.await(s, w.upTo(latencies[c.table], w.engine.caller.key))
		}
	}
	w.checkRecorded()
	w.engine.changes = w.engine.changes[:0]
}

// expire lets DynamoDB delete the items whose time to live has ended.
func (w *World) expire() {
	if !w.over {
		w.db.Expire()
		w.written()
	}
}
