package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/tables"
	"toggleadmin/test/accesslog"
	"toggleadmin/test/runtimeapi"
)

// trafficBench measures record-traffic.
type trafficBench struct {
	function samtemplate.Function
	format   string   // of the access log
	paths    []string // that are counted
}

// measureTraffic runs the built function on deliveries of several sizes, with an engine in memory.
func measureTraffic(ctx context.Context, _ options, work string) error {
	e, err := engineInMemory(ctx)
	if err != nil {
		return err
	}
	defer e.Stop()
	template, err := samtemplate.Load("template.yaml",
		samtemplate.Settings{Parameters: map[string]string{"DynamoDBEndpoint": e.Endpoint()}})
	if err != nil {
		return err
	}
	client, err := engineClient(e.Endpoint())
	if err != nil {
		return err
	}
	if err := tables.Make(ctx, client, template.Tables); err != nil {
		return err
	}
	b := &trafficBench{format: template.API.AccessLogFormat}
	for _, f := range template.Functions {
		if f.Name == "record-traffic" {
			b.function, b.paths = f, strings.Fields(f.Environment["COUNTED_PATHS"])
		}
	}
	return b.measure(ctx, work)
}

// engineInMemory starts an engine without a data folder.
func engineInMemory(ctx context.Context) (*engine.Engine, error) {
	program, err := engine.Find(".")
	if err != nil {
		return nil, err
	}
	return engine.Start(ctx, engine.Options{Program: program})
}

func (b *trafficBench) measure(ctx context.Context, work string) error {
	binary := filepath.Join(work, b.function.Name)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=lambda.norpc", "-ldflags=-s",
		"-o", binary,
		"./functions/"+b.function.Name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the function: %w: %s", err, out)
	}
	largest, err := b.fitting(1 << 20)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, size := range []int{10, 100, 1000, largest} {
		row, err := b.speed(ctx, binary, size)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	printTable("record-traffic: speed and memory",
		"The built function as a process with GOMAXPROCS=1, driven through the Runtime API. ms: from the event to the response, including the "+
			"transaction. CPU ms: of the process. The last size is the largest that fits into an asynchronous invocation (1 MB). "+
			"Memory: the peak of the resident set.",
		[]string{"lines", "event KB", "ms", "CPU ms", "lines/s", "lines/s of CPU", "peak memory MB"}, rows)
	return nil
}

// fitting returns how many lines make an event of almost size bytes.
func (b *trafficBench) fitting(size int) (int, error) {
	const sample = 20_000
	event, err := b.event(sample)
	if err != nil {
		return 0, err
	}
	return int(float64(sample) * float64(size) / float64(len(event)) * 0.995), nil
}

func (b *trafficBench) event(n int) ([]byte, error) {
	lines := make([]accesslog.Line, n)
	for i := range lines {
		lines[i] = accesslog.Line{N: i, Time: time.Now(), Path: b.paths[rand.N(len(b.paths))], Status: 200 + rand.N(3)*100}
	}
	event, err := accesslog.Delivery("bench"+strconv.Itoa(rand.Int()), b.format, lines)
	if err != nil {
		return nil, err
	}
	return json.Marshal(event)
}

func (b *trafficBench) speed(ctx context.Context, binary string, size int) ([]string, error) {
	variables := maps.Clone(b.function.Environment)
	variables["GOMAXPROCS"] = "1"
	p, err := runtimeapi.Start(ctx, runtimeapi.Function{Binary: binary, Variables: variables, Timeout: b.function.Timeout})
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	rounds := min(max(200_000/size, 5), 300)
	var cpu, elapsed []time.Duration
	bytes := 0
	for range rounds {
		event, err := b.event(size)
		if err != nil {
			return nil, err
		}
		bytes = len(event)
		before, err := cpuTime(p.PID())
		if err != nil {
			return nil, err
		}
		started := time.Now()
		response, err := p.Invoke(ctx, event)
		if err != nil || response.Failed {
			return nil, errors.Join(err, fmt.Errorf("response %s", response.Body))
		}
		elapsed = append(elapsed, time.Since(started))
		after, err := cpuTime(p.PID())
		if err != nil {
			return nil, err
		}
		cpu = append(cpu, after-before)
	}
	t, c := median(elapsed), median(cpu)
	perSecond := func(d time.Duration) string { return strconv.Itoa(int(float64(size) / d.Seconds())) }
	return []string{
		strconv.Itoa(size), fmt.Sprintf("%.1f", float64(bytes)/1000), milliseconds(t), milliseconds(c), perSecond(t),
		perSecond(c),
		fmt.Sprintf("%.0f", peakMB(p.PID())),
	}, nil
}
