package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/unleashserver"
)

const (
	// sideBySide is the number of connections of the comparison with Unleash.
	sideBySide = 16
	// evaluatedToggles is the number of toggles of the comparison of the frontend API.
	evaluatedToggles = 100
)

// side is one of the two services of the comparison: the URL and the tokens of applications.
type side struct{ url, backend, frontend string }

// measureUnleash compares the service with Unleash: the same requests to the same toggles, in turn.
func measureUnleash(ctx context.Context, o options) {
	unleash := must(unleashserver.Start(ctx, freePort(ctx), freePort(ctx)))
	defer func() { check(unleash.Stop()) }()
	s := startService(ctx, o, filepath.Join(o.disk, "unleash"))
	defer s.stop()
	d := installed{s.client, s.tables}
	ours := side{s.ClientURL, d.token(ctx, clienttokentable.Backend), d.token(ctx, clienttokentable.Frontend)}
	theirs := func() side {
		return side{unleash.URL, unleashserver.ClientToken, unleashserver.FrontendToken}
	}
	var rows [][]any
	compare := func(name string, goal float64, newWorker func(side) worker) {
		var ratios []float64
		var here, there []result
		for range o.Rounds {
			there = append(there, drive(ctx, o.Length, newWorkers(theirs(), newWorker)))
			here = append(here, drive(ctx, o.Length, newWorkers(ours, newWorker)))
			ratios = append(ratios, here[len(here)-1].perSecond/there[len(there)-1].perSecond)
		}
		rows = append(rows, []any{name, int(medianRate(here)), int(medianRate(there)), median(ratios), goal})
	}

	fill := func(from, to int) {
		d.putToggles(ctx, to)
		d.compile(ctx)
		check(unleash.SQL(ctx, unleashToggles(from, to)))
		check(unleash.Restart(ctx, freePort(ctx), 1)) // it does not notice what it has not written itself
	}
	fill(0, evaluatedToggles)
	evaluated := func(s side) int { return len(evaluate(dial(ctx, s.url), s.frontend)) }
	if here, there := evaluated(ours), evaluated(theirs()); here != there || here == 0 {
		check(fmt.Errorf("%d toggles are on here, and %d in Unleash", here, there))
	}
	compare(fmt.Sprintf("`%s`, %d toggles", frontendPath, evaluatedToggles), 3, func(s side) worker {
		c := dial(ctx, s.url)
		return func(context.Context) error {
			_, err := c.do(http.StatusOK, http.MethodPost, frontendPath, s.frontend, frontendContext)
			return err
		}
	})
	fill(evaluatedToggles, deliveredToggles)
	text, _ := download(dial(ctx, ours.url), ours.backend, "")
	other, _ := download(dial(ctx, unleash.URL), unleashserver.ClientToken, "")
	for name, text := range map[string]string{"here": text, "in Unleash": other} {
		if n := strings.Count(text, `"groupId"`); n != 2*deliveredToggles {
			check(fmt.Errorf("%d strategies %s, not %d", n, name, 2*deliveredToggles))
		}
	}
	compare("poll with a 304", 2, func(s side) worker {
		c := dial(ctx, s.url)
		_, tag := download(c, s.backend, "")
		return pollWorker(c, http.StatusNotModified, s.backend, tag)
	})
	compare(fmt.Sprintf("poll with a 200 of %d kB", len(text)/1000), 4, func(s side) worker {
		return pollWorker(dial(ctx, s.url), http.StatusOK, s.backend, "")
	})
	printTable("Side by side with Unleash", " request | here, requests/s | Unleash, requests/s | ratio | goal", rows,
		"The program of `make run`, and Unleash in the version of test/unleash/server with PostgreSQL, on one machine with "+
			"the load program; the one that is not measured is idle. %d toggles for polls, whose response is compressed with "+
			"gzip (%d kB in Unleash before). Closed loop, %d keep-alive connections; every status is checked. %d rounds of %s, "+
			"in turn; the median of the ratios counts.", deliveredToggles, len(other)/1000, sideBySide, o.Rounds, o.Length)
}

// freePort returns a port that no program uses.
func freePort(ctx context.Context) string {
	listener := must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	check(err)
	return port
}

func newWorkers(s side, newWorker func(side) worker) []worker {
	workers := make([]worker, sideBySide)
	for i := range workers {
		workers[i] = newWorker(s)
	}
	return workers
}

func medianRate(results []result) float64 {
	var rates []float64
	for _, r := range results {
		rates = append(rates, r.perSecond)
	}
	return median(rates)
}

// pollWorker polls with a tag. An empty tag stands for none.
func pollWorker(c *connection, status int, token, tag string) worker {
	headers := pollHeaders(tag)
	return func(context.Context) error {
		got, err := c.send(http.MethodGet, featuresPath, token, "", headers...)
		if err == nil && got.status != status {
			err = fmt.Errorf("poll: status %d, not %d", got.status, status)
		}
		return err
	}
}

// evaluate returns the toggles that are on according to the frontend API.
func evaluate(c *connection, token string) []json.RawMessage {
	var answer struct{ Toggles []json.RawMessage }
	check(json.Unmarshal(must(c.do(http.StatusOK, http.MethodPost, frontendPath, token, frontendContext)), &answer))
	return answer.Toggles
}

// unleashToggles returns statements that write toggles as Unleash stores them: those with the numbers first to end - 1,
// and with toggle 0 also the segments.
func unleashToggles(first, end int) string {
	var sql strings.Builder
	if first == 0 {
		for id := range deliveredSegments {
			s := segment(id + 1)
			fmt.Fprintf(&sql, "INSERT INTO segments (id, name, constraints) VALUES (%d, '%s', %s);\n", s.ID, s.Name,
				literal(s.Constraints))
		}
	}
	for i := first; i < end; i++ {
		f := activeToggle(i, "release", time.Now(), false)
		fmt.Fprintf(&sql, "INSERT INTO features (name, project, type, description, created_by_user_id) "+
			"VALUES ('%s', 'default', 'release', '%s', -42);\n", f.Name, *f.Description)
		for environment, in := range f.Environments {
			fmt.Fprintf(&sql, "INSERT INTO feature_environments (feature_name, environment, enabled) VALUES ('%s', '%s', %t);\n",
				f.Name, environment, in.Enabled)
			for _, strategy := range in.Strategies {
				writeStrategy(&sql, f.Name, environment, strategy)
			}
		}
	}
	return sql.String()
}

// writeStrategy writes the statements of a strategy.
func writeStrategy(sql *strings.Builder, feature, environment string, s toggle.Strategy) {
	fmt.Fprintf(sql, "INSERT INTO feature_strategies (id, feature_name, project_name, environment, strategy_name, "+
		"parameters, constraints, sort_order) VALUES ('%s', '%s', 'default', '%s', '%s', %s, %s, %d);\n",
		s.ID, feature, environment, s.Name, literal(s.Parameters), literal(s.Constraints), s.SortOrder)
	for _, id := range s.Segments {
		fmt.Fprintf(sql, "INSERT INTO feature_strategy_segment (feature_strategy_id, segment_id) VALUES ('%s', %d);\n",
			s.ID, id)
	}
}

// literal returns the JSON form of a value as a literal of SQL.
func literal(value any) string { return "$json$" + string(must(json.Marshal(value))) + "$json$" }
