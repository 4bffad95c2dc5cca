package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/test/helper/runtimeapi"
)

// compilations is the number of measured compilations, of which the median counts.
const compilations = 11

// deliveryBench has an engine in memory with what applications download, and the functions that deliver it, built.
type deliveryBench struct {
	*database
	data              installed
	folder            string
	backend, frontend string // secrets of tokens
	changes           int    // that were made
}

func newDeliveryBench(ctx context.Context, o options) *deliveryBench {
	d := startDatabase(ctx)
	b := &deliveryBench{
		database: d,
		data:     installed{d.client, d.tables},
		folder:   buildFunctions(ctx, o, "client", "compile-snapshots"),
	}
	b.backend = b.data.token(ctx, clienttokentable.Backend)
	b.frontend = b.data.token(ctx, clienttokentable.Frontend)
	b.fill(ctx, deliveredToggles)
	return b
}

// fill writes toggles, and compiles them.
func (b *deliveryBench) fill(ctx context.Context, n int) {
	b.data.putToggles(ctx, n)
	b.data.compile(ctx)
}

// process is a function with one processor.
func (b *deliveryBench) process(name string, freshness time.Duration) runtimeapi.Function {
	f := process(b.folder, function(b.template, name))
	f.Variables["GOMAXPROCS"] = "1"
	f.Variables["FRESHNESS_MILLISECONDS"] = strconv.FormatInt(freshness.Milliseconds(), 10)
	return f
}

// metered returns a function in this process whose calls are counted.
func (b *deliveryBench) metered(name string) (lambda.Handler, *meter) {
	f, m := function(b.template, name), &meter{}
	env := newEnv(f, b.Endpoint(), io.Discard)
	env.AWS.APIOptions = []func(*middleware.Stack) error{m.add}
	return construct(f, env), m
}

// respond returns the response of the function client to an event. It must have the status.
func respond(ctx context.Context, h lambda.Handler, status int, event []byte) events.LambdaFunctionURLResponse {
	return parseResponse(status, must(h.Invoke(ctx, event)))
}

func parseResponse(status int, output []byte) events.LambdaFunctionURLResponse {
	var response events.LambdaFunctionURLResponse
	check(json.Unmarshal(output, &response))
	if response.StatusCode != status {
		check(fmt.Errorf("status %d, not %d: %.300s", response.StatusCode, status, response.Body))
	}
	return response
}

// measurePolls counts the calls of a process to DynamoDB.
func (b *deliveryBench) measurePolls(ctx context.Context) {
	const status304, status200 = http.StatusNotModified, http.StatusOK
	h, m := b.metered("client")
	tag := respond(ctx, h, status200, pollEvent(b.backend, "")).Headers["Etag"]
	known, evaluate := pollEvent(b.backend, tag), urlEvent(http.MethodPost, frontendPath, b.frontend, frontendContext)
	freshness := time.Duration(must(strconv.Atoi(function(b.template, "client").Environment["FRESHNESS_MILLISECONDS"]))) *
		time.Millisecond
	var rows [][]any
	count := func(name string, status int, event []byte) {
		m.reset()
		respond(ctx, h, status, event)
		rows = append(rows, []any{name, m.calls, strconv.FormatFloat(m.units, 'f', 1, 64)})
	}
	<-time.After(freshness)
	count("304, the pointer is read", status304, known)
	count("304, the pointer was read recently", status304, known)
	count("200, the pointer was read recently", status200, pollEvent(b.backend, ""))
	count("frontend API, the pointer was read recently", status200, evaluate)
	b.change(ctx)
	b.data.compile(ctx)
	<-time.After(freshness)
	count("200 after a change", status200, known)
	h, m = b.metered("client")
	count("304, the first request of a process", status304, pollEvent(b.backend, b.tag(ctx)))
	h, m = b.metered("client")
	count("200, the first request of a process", status200, pollEvent(b.backend, ""))
	printTable("DynamoDB of a poll", " response | calls | read units", rows,
		"The function in this process, on the local engine. %d toggles. Goals: one call and 1.5 units for a poll, no read of "+
			"the pointer within %s.", deliveredToggles, freshness)
}

// tag returns the tag of the current version.
func (b *deliveryBench) tag(ctx context.Context) string {
	h, _ := b.metered("client")
	return respond(ctx, h, http.StatusOK, pollEvent(b.backend, "")).Headers["Etag"]
}

// change changes a toggle in the table, and returns the event for compile-snapshots.
func (b *deliveryBench) change(ctx context.Context) []byte {
	b.changes++
	f := activeToggle(7, "release", time.Now(), false)
	f.Description = new(fmt.Sprint("change ", b.changes))
	table := b.tables["Features"]
	must(b.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: featuretable.Marshal(f)}))
	return bytes.ReplaceAll(sampleEvent("compile-snapshots"), []byte("checkout"), []byte(f.Name))
}

// measureStarts compares the function client, as the process that Lambda starts, with the baseline.
func (b *deliveryBench) measureStarts(ctx context.Context) {
	baseline := process(b.folder, function(b.template, "authorizer"))
	baseline.Binary = b.folder + "baseline"
	client := process(b.folder, function(b.template, "client"))
	h, _ := b.metered("client")
	size := len(must(uncompressed(respond(ctx, h, http.StatusOK, pollEvent(b.backend, "")))))
	cases := []struct {
		name   string
		goal   any
		status int
		event  []byte
	}{
		{"304", 1.15, http.StatusNotModified, pollEvent(b.backend, b.tag(ctx))},
		{fmt.Sprintf("200 of %d kB", size/1000), 1.5, http.StatusOK, pollEvent(b.backend, "")},
		{"frontend API", "", http.StatusOK, urlEvent(http.MethodPost, frontendPath, b.frontend, frontendContext)},
	}
	var rows [][]any
	for _, c := range cases {
		p := must(runtimeapi.Start(ctx, client))
		parseResponse(c.status, must(p.Invoke(ctx, c.event)).Body)
		p.Stop()
		var next, response [2][]time.Duration // of the baseline, and of the function
		for range starts {
			for i, program := range []runtimeapi.Function{baseline, client} {
				toNext, toResponse := start(ctx, program, c.event)
				next[i], response[i] = append(next[i], toNext), append(response[i], toResponse)
			}
		}
		rows = append(rows, []any{c.name, median(next[1]), ratio(next[1], next[0]), median(response[1]),
			ratio(response[1], response[0]), c.goal})
	}
	printTable("Start of the function client", " first response | → next ms | ratio | → response ms | ratio | goal", rows,
		"From the start of the built function to its first `/next`, and to its first response, driven through the Runtime "+
			"API, with the local engine in memory: median of %d starts, in turn with the baseline program of the suite "+
			"functions. %d toggles.", starts,
		deliveredToggles)
}

// uncompressed returns the text of a response.
func uncompressed(response events.LambdaFunctionURLResponse) (string, error) {
	content, err := base64.StdEncoding.DecodeString(response.Body)
	if err != nil {
		return "", err
	}
	return gunzip(content)
}

// measureCompilation measures the compilation of many toggles after one of them has changed.
func (b *deliveryBench) measureCompilation(ctx context.Context) {
	h, m := b.metered("compile-snapshots")
	event := b.change(ctx)
	m.reset()
	must(h.Invoke(ctx, event))
	p := must(runtimeapi.Start(ctx, b.process("compile-snapshots", 0)))
	defer p.Stop()
	var used, took []time.Duration
	for range compilations {
		before := b.tag(ctx)
		event := b.change(ctx)
		cpu, started := cpuTime(p.PID()), time.Now()
		invoke(ctx, p, event)
		took = append(took, time.Since(started))
		used = append(used, cpuTime(p.PID())-cpu)
		if b.tag(ctx) == before {
			check(errors.New("nothing was compiled"))
		}
	}
	printTable("Compilation of a change", "  | measured | goal", [][]any{
		{"calls to DynamoDB", m.calls, 10},
		{"processor time, ms", median(used), 500},
		{"from the event to the response, ms", median(took), ""},
		{"peak memory, MB", memoryMB(p.PID(), "VmHWM"), ""},
	}, "One of %d toggles, in one environment. The built function as a process with GOMAXPROCS=1, as Lambda gives one "+
		"processor to 1,769 MB; median of %d compilations.", manyToggles, compilations)
}

// measureMemory measures the memory of the function client with many toggles.
func (b *deliveryBench) measureMemory(ctx context.Context) {
	p := must(runtimeapi.Start(ctx, b.process("client", 0)))
	defer p.Stop()
	compile, _ := b.metered("compile-snapshots")
	poll := func(n int) {
		for range n {
			parseResponse(http.StatusOK, must(p.Invoke(ctx, pollEvent(b.backend, ""))).Body)
		}
	}
	evaluate := func(n int) {
		for range n {
			parseResponse(http.StatusOK,
				must(p.Invoke(ctx, urlEvent(http.MethodPost, frontendPath, b.frontend, frontendContext))).Body)
		}
	}
	var rows [][]any
	report := func(name string, goal any) {
		rows = append(rows, []any{name, memoryMB(p.PID(), "VmRSS"), memoryMB(p.PID(), "VmHWM"), goal})
	}
	poll(1)
	report("one poll with a 200", "")
	poll(100)
	report("100 polls with a 200", "")
	evaluate(1)
	report("the first evaluation of all toggles", "")
	evaluate(100)
	report("100 evaluations of all toggles", 128)
	for range 10 {
		must(compile.Invoke(ctx, b.change(ctx)))
		poll(1)
		evaluate(1)
	}
	report("10 changes, each downloaded and evaluated", 128)
	printTable("Memory of the function client", " after | memory MB | peak MB | goal", rows,
		"%d toggles. The built function as a process with GOMAXPROCS=1 that reads the pointer with each request.", manyToggles)
}
