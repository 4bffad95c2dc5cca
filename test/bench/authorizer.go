package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"toggleadmin/test/helper/runtimeapi"
)

// measureAuthorizer compares the processor time of a request to the authorizer, for a PAT, with that of an earlier one, in
// turn on the same tables.
func measureAuthorizer(ctx context.Context, o options) {
	const batches = 20
	if o.Earlier == "" {
		check(errors.New("the suite authorizer needs --earlier, the binary of an earlier authorizer"))
	}
	s := startService(ctx, o, filepath.Join(o.memory, "authorizer"))
	defer s.stop()
	f := function(loadTemplate(map[string]string{"DynamoDBEndpoint": s.DynamoDBEndpoint}), "authorizer")
	current := must(runtimeapi.Start(ctx, process(buildFunctions(ctx, o, "authorizer"), f)))
	defer current.Stop()
	before := runtimeapi.Function{Binary: o.Earlier, Variables: f.Environment, Timeout: f.Timeout}
	earlier := must(runtimeapi.Start(ctx, before))
	defer earlier.Stop()

	event := authorization(s.Users[1].PAT)
	cpu, elapsed := map[*runtimeapi.Process][]time.Duration{}, map[*runtimeapi.Process][]time.Duration{}
	for range batches {
		for _, p := range []*runtimeapi.Process{earlier, current} {
			used, began := cpuTime(p.PID()), time.Now()
			for range invocations / batches {
				invoke(ctx, p, event)
			}
			cpu[p] = append(cpu[p], (cpuTime(p.PID())-used)/(invocations/batches))
			elapsed[p] = append(elapsed[p], time.Since(began)/(invocations/batches))
		}
	}
	ratio := func(measured map[*runtimeapi.Process][]time.Duration) any {
		return float64(median(measured[current])) / float64(median(measured[earlier]))
	}
	printTable("A request to the authorizer with a PAT", " | earlier ms | now ms | ratio", [][]any{
		{"processor time", median(cpu[earlier]), median(cpu[current]), ratio(cpu)},
		{"time", median(elapsed[earlier]), median(elapsed[current]), ratio(elapsed)},
	}, "Median of %d batches of %d, in turn. Goal: a ratio of 1.15.", batches, invocations/batches)
}
