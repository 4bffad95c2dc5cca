package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/ascode"
)

const (
	describedToggles = 1000
	appliedToggles   = 100
)

// measureAsCode measures plans and an apply of toggles that files describe, through the API of `make run`.
func measureAsCode(ctx context.Context, o options) {
	s := startService(ctx, o, filepath.Join(o.disk, "ascode"))
	defer s.stop()
	client := ascode.NewClient(must(apiclient.New(s.BaseURL, s.Users[0].PAT)))
	dir := filepath.Join(o.disk, "files")
	check(os.MkdirAll(dir, 0o750))
	write := func(n int, kind string) {
		for i := range n {
			check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%d.yaml", i)), fmt.Appendf(nil, `name: described-%d
project: default
type: %s
environments:
  development: {enabled: true, strategies: [{name: default}]}
  production:
    enabled: true
    strategies:
      - name: flexibleRollout
        parameters: {rollout: "25", stickiness: userId}
        constraints: [{contextName: userId, operator: IN, values: ["1", "2"]}]
`, i, kind), 0o600))
		}
	}
	plan := func() (ascode.Plan, time.Duration) {
		started := time.Now()
		toggles := must(ascode.Read([]string{dir}))
		p := must(client.Plan(ctx, toggles, ascode.Options{Source: "https://example.com/toggles"}))
		return p, time.Since(started)
	}
	apply := func(p ascode.Plan) time.Duration {
		started := time.Now()
		var refused error
		check(client.Apply(ctx, p, func(o ascode.Outcome) {
			if o.Error != "" {
				refused = errors.New(o.Error)
			}
		}))
		check(refused)
		return time.Since(started)
	}
	write(describedToggles, "release")
	p, created := plan()
	apply(p)
	p, same := plan()
	if len(p.Steps) > 0 {
		check(fmt.Errorf("%d toggles differ after an apply", len(p.Steps)))
	}
	write(appliedToggles, "operational")
	p, _ = plan()
	applied := apply(p)
	rows := [][]any{
		{fmt.Sprintf("plan, %d new toggles", describedToggles), created.Seconds(), 5},
		{fmt.Sprintf("plan, %d toggles without a difference", describedToggles), same.Seconds(), 5},
		{fmt.Sprintf("apply, %d changes", len(p.Steps)), applied.Seconds(), 20},
	}
	printTable("Toggles as code", " | s | goal", rows, "Files of toggles with two strategies, one connection pool, the API of "+
		"`make run` on the same machine.")
}
