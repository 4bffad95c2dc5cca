package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/runtimeapi"
)

const (
	starts      = 21   // of each binary, in turn with the others
	invocations = 1000 // warm ones
)

// buildFunctions builds functions, or all of them, and the baseline as `make build` does, but for this machine.
func buildFunctions(ctx context.Context, o options, names ...string) (folder string) {
	folder = filepath.Join(o.disk, "functions") + string(filepath.Separator)
	arguments := []string{"-trimpath", "-buildvcs=false", "-tags=lambda.norpc", "-ldflags=-s", "-o", folder}
	if len(names) == 0 {
		names = []string{"..."}
	}
	for _, name := range names {
		arguments = append(arguments, "./functions/"+name)
	}
	build(ctx, append(arguments, "./test/bench/baseline")...)
	return folder
}

// measureFunctions compares each function that serves requests, as the process that Lambda starts, with the baseline.
func measureFunctions(ctx context.Context, o options) {
	folder := buildFunctions(ctx, o)
	s := startService(ctx, o, filepath.Join(o.memory, "functions"))
	defer s.stop()
	template := loadTemplate(map[string]string{"DynamoDBEndpoint": s.DynamoDBEndpoint})
	baseline := process(folder, function(template, "authorizer"))
	baseline.Binary = folder + "baseline"
	var rows [][]any
	for _, f := range template.Functions {
		if f.LogicalID != template.API.Authorizer.Function &&
			!slices.ContainsFunc(template.API.Routes, func(r samtemplate.Route) bool { return r.Function == f.LogicalID }) {
			continue // no request waits for it
		}
		measured, event := process(folder, f), sampleEvent(f.Name)
		var next, response [2][]time.Duration // of the baseline, and of the function
		for range starts {
			for i, program := range []runtimeapi.Function{baseline, measured} {
				toNext, toResponse := start(ctx, program, event)
				next[i], response[i] = append(next[i], toNext), append(response[i], toResponse)
			}
		}
		rows = append(rows, []any{f.Name, median(next[1]), ratio(next[1], next[0]), median(response[1]),
			ratio(response[1], response[0]), float64(must(os.Stat(measured.Binary)).Size()) / 1e6, warmMB(ctx, measured, event)})
	}
	printTable("Each function as a process",
		" function | → next ms | ratio | → response ms | ratio | size MB | memory MB", rows,
		"Built with the flags of a deployment and driven through the Runtime API, with the local engine, whose file is in "+
			"memory. Start → first `/next`, and → first response with its DynamoDB calls: median of %d starts, in turn with a "+
			"baseline program (same SDK packages, same warm-up, one GetItem). Memory: after %d invocations. Goals: ratio 1.15, "+
			"size 12 MB.", starts, invocations)
}

// process is a built function in a folder.
func process(folder string, f samtemplate.Function) runtimeapi.Function {
	return runtimeapi.Function{Binary: folder + f.Name, Variables: f.Environment, Timeout: f.Timeout}
}

func sampleEvent(function string) []byte {
	return must(os.ReadFile(filepath.Join("events", function+".json")))
}

// start starts a function and invokes it once. It returns the times from the start to the first /next and to the
// response.
func start(ctx context.Context, f runtimeapi.Function, event []byte) (next, response time.Duration) {
	started := time.Now()
	p := must(runtimeapi.Start(ctx, f))
	defer p.Stop()
	select {
	case <-p.Polled():
		next = time.Since(started)
	case <-p.Ended():
		check(errors.New("the process ended: " + p.Stderr()))
	}
	must(p.Invoke(ctx, event))
	return next, time.Since(started)
}

// invoke invokes a function, which must succeed.
func invoke(ctx context.Context, p *runtimeapi.Process, event []byte) {
	if response := must(p.Invoke(ctx, event)); response.Failed {
		check(fmt.Errorf("the function returned the error %s", response.Body))
	}
}

// warmMB invokes a function many times and returns its resident memory.
func warmMB(ctx context.Context, f runtimeapi.Function, event []byte) float64 {
	p := must(runtimeapi.Start(ctx, f))
	defer p.Stop()
	for range invocations {
		must(p.Invoke(ctx, event)) // the sample event of the authorizer is rejected
	}
	return memoryMB(p.PID(), "VmRSS")
}
