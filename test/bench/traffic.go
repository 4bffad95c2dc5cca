package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/test/helper/accesslog"
	"toggleadmin/test/helper/runtimeapi"
)

// measureTraffic runs the built function on deliveries of several sizes, with an engine in memory.
func measureTraffic(ctx context.Context, o options) {
	d := startDatabase(ctx)
	defer d.Stop()
	f := function(d.template, "record-traffic")
	paths := slices.Collect(maps.Keys(traffic.CountedPaths()))
	delivery := func(lines int) []byte {
		log := make([]accesslog.Line, lines)
		for i := range log {
			log[i] = accesslog.Line{N: i, Time: time.Now(), Path: paths[rand.N(len(paths))], Status: 200 + rand.N(3)*100}
		}
		stream := fmt.Sprint("bench", rand.Int())
		return must(json.Marshal(must(accesslog.Delivery(stream, d.template.API.AccessLogFormat, log))))
	}
	const sample = 20_000
	largest := int(sample * 0.995 * (1 << 20) / float64(len(delivery(sample))))
	f.Environment["GOMAXPROCS"] = "1"
	folder := buildFunctions(ctx, o)
	var rows [][]any
	for _, lines := range []int{100, 1000, largest} {
		p := must(runtimeapi.Start(ctx, process(folder, f)))
		defer p.Stop()
		var took []time.Duration
		for range min(max(200_000/lines, 5), 300) {
			event := delivery(lines)
			started := time.Now()
			invoke(ctx, p, event)
			took = append(took, time.Since(started))
		}
		t := median(took)
		rows = append(rows, []any{lines, t, int(float64(lines) / t.Seconds()), memoryMB(p.PID(), "VmHWM")})
	}
	printTable("record-traffic: speed and memory", " lines | ms | lines/s | peak memory MB", rows,
		"The built function as a process with GOMAXPROCS=1, driven through the Runtime API. ms: from the event to the "+
			"response, including the transaction. The last size is the largest that fits into an asynchronous invocation "+
			"(1 MB). Memory: the peak of the resident set.")
}
