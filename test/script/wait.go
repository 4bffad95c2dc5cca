package script

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// until STATUS within DURATION METHOD /path …
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	refuseNegation(ts, neg)
	if len(args) < 5 || args[1] != "within" || !slices.Contains(methods(), args[3]) {
		ts.Fatalf("usage: until STATUS within DURATION METHOD /path …")
	}
	patience, err := time.ParseDuration(args[2])
	ts.Check(err)
	s := of(ts)
	req, err := s.parse(args[3], args[4:], func(file string) []byte { return []byte(ts.ReadFile(file)) })
	ts.Check(err)

	const pause = 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		// The request itself is not cut short: its answer may be the one that is waited for.
		ts.Check(s.send(req))
		if s.fulfils(args[0]) {
			return
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("not %s within %s\nthe last answer was %s", args[0], patience, s.last)
		case <-tick.C:
		}
	}
}

// fulfils says whether the last answer has a status. 401 is what the ground makes of it.
func (s *session) fulfils(status string) bool {
	if status == "401" {
		return s.ground.unauthenticated(s.last) == nil
	}
	return strconv.Itoa(s.last.status) == status
}

// clock NAME OFFSET
func cmdClock(ts *testscript.TestScript, neg bool, args []string) {
	refuseNegation(ts, neg)
	if len(args) != 2 {
		ts.Fatalf("usage: clock NAME OFFSET")
	}
	offset, err := time.ParseDuration(args[1])
	ts.Check(err)
	ts.Setenv(args[0], of(ts).ground.Now().Add(offset).UTC().Format(time.RFC3339Nano))
}
