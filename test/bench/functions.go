package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/test/runtimeapi"
)

const (
	starts      = 21   // of each binary, in turn with the baseline's
	invocations = 1000 // warm ones
)

// buildFunctions builds all functions and the baseline as `make build` does, but for this machine.
func buildFunctions(ctx context.Context, work string) (string, error) {
	folder := filepath.Join(work, "functions") + string(filepath.Separator)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=lambda.norpc", "-ldflags=-s",
		"-o", folder,
		"./functions/...", "./test/bench/baseline")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the functions: %w: %s", err, out)
	}
	return folder, nil
}

// measureFunctions compares each function that serves requests, as the process that Lambda starts, with the baseline.
func measureFunctions(ctx context.Context, _ options, work string) error {
	folder, err := buildFunctions(ctx, work)
	if err != nil {
		return err
	}
	template, err := samtemplate.Load("template.yaml", samtemplate.Settings{Region: "eu-west-1", AccountID: "123456789012",
		StackName: "bench"})
	if err != nil {
		return err
	}
	local, err := buildLocal(ctx, work)
	if err != nil {
		return err
	}
	data, err := os.MkdirTemp(memoryFolder(), "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data) //nolint:errcheck // a temporary folder
	s, err := startLocal(ctx, local, filepath.Join(data, "functions"))
	if err != nil {
		return err
	}
	defer s.stop() //nolint:errcheck // the measurement is complete
	var rows [][]string
	for _, f := range template.Functions {
		if !servesRequests(template, f.LogicalID) {
			continue // no request waits for it
		}
		row, err := measureFunction(ctx, folder, f, s)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		rows = append(rows, row)
	}
	printTable("Each function as a process",
		fmt.Sprintf("Built with the flags of a deployment and driven through the Runtime API, with the local engine, "+
			"whose file is in memory if "+
			"there is a tmpfs. Start → first `/next`, and → first response with its DynamoDB calls: median of %d starts, in turn with a baseline "+
			"program (same SDK packages, same warm-up, one GetItem). Memory: after %d invocations. Goals: ratio 1.15, size 12 MB.",
			starts, invocations),
		[]string{"function", "→ next ms", "baseline ms", "ratio", "→ response ms", "baseline ms", "ratio", "size MB",
			"memory MB"}, rows)
	return nil
}

// servesRequests reports whether a function is part of the path of a request.
func servesRequests(template *samtemplate.Template, function string) bool {
	return function == template.API.Authorizer.Function ||
		slices.ContainsFunc(template.API.Routes, func(r samtemplate.Route) bool { return r.Function == function })
}

func measureFunction(ctx context.Context, folder string, f samtemplate.Function, s *service) ([]string, error) {
	event, err := os.ReadFile(filepath.Join("events", f.Name+".json"))
	if err != nil {
		return nil, err
	}
	variables := maps.Clone(f.Environment)
	if variables == nil {
		variables = map[string]string{}
	}
	variables["DYNAMODB_ENDPOINT"] = s.Credentials.DynamoDB.Endpoint
	function := runtimeapi.Function{Binary: filepath.Join(folder, f.Name), Variables: variables, Timeout: f.Timeout}
	baseline := runtimeapi.Function{
		Binary: filepath.Join(folder, "baseline"), Timeout: f.Timeout,
		Variables: map[string]string{"DYNAMODB_ENDPOINT": s.Credentials.DynamoDB.Endpoint,
			"USERS_TABLE": s.Credentials.DynamoDB.Tables["Users"]},
	}
	var next, answer, baselineNext, baselineAnswer []time.Duration
	for range starts {
		n, a, err := startOnce(ctx, function, event)
		if err != nil {
			return nil, err
		}
		fn, fa, err := startOnce(ctx, baseline, event)
		if err != nil {
			return nil, err
		}
		next, answer, baselineNext, baselineAnswer = append(next, n), append(answer, a), append(baselineNext, fn),
			append(baselineAnswer, fa)
	}
	memory, err := warm(ctx, function, event)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(function.Binary)
	if err != nil {
		return nil, err
	}
	n, fn, a, fa := median(next), median(baselineNext), median(answer), median(baselineAnswer)
	return []string{
		f.Name, milliseconds(n), milliseconds(fn), ratio(n, fn), milliseconds(a), milliseconds(fa), ratio(a, fa),
		fmt.Sprintf("%.1f", float64(info.Size())/1e6), fmt.Sprintf("%.1f", memory),
	}, nil
}

// memoryFolder returns a folder in memory, or empty (the default folder for temporary files) if there is none.
func memoryFolder() string {
	const tmpfs = "/dev/shm"
	if info, err := os.Stat(tmpfs); err == nil && info.IsDir() {
		return tmpfs
	}
	return ""
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }

// startOnce starts a function and invokes it once.
func startOnce(ctx context.Context, f runtimeapi.Function, event []byte) (next, answer time.Duration, err error) {
	started := time.Now()
	p, err := runtimeapi.Start(ctx, f)
	if err != nil {
		return 0, 0, err
	}
	defer p.Stop()
	select {
	case <-p.Polled():
		next = time.Since(started)
	case <-p.Ended():
		return 0, 0, errors.New("the process ended: " + p.Stderr())
	}
	if _, err := p.Invoke(ctx, event); err != nil {
		return 0, 0, err
	}
	return next, time.Since(started), nil
}

// warm invokes a function many times and returns its resident memory in MB.
func warm(ctx context.Context, f runtimeapi.Function, event []byte) (float64, error) {
	p, err := runtimeapi.Start(ctx, f)
	if err != nil {
		return 0, err
	}
	defer p.Stop()
	for range invocations {
		if _, err := p.Invoke(ctx, event); err != nil {
			return 0, err
		}
	}
	return residentMB(p.PID()), nil
}
