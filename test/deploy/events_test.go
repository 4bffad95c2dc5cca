package deploy_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/pat"
)

// trySeen uses a token and waits for the time at which the authorizer saw it. That it cannot be written fails no request.
func trySeen(ctx context.Context, s *stack, patience time.Duration) error {
	client, err := s.dynamoDB()
	if err != nil {
		return err
	}
	made, err := s.makeToken(ctx, "seen "+rand.Text(), time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	if err != nil {
		return err
	}
	if _, err := s.request(ctx, http.MethodGet, "/api/admin/context", made.Secret, "", http.StatusOK); err != nil {
		return err
	}
	key := pat.Key(s.credentials.ServiceAccounts[0].ID, made.ID)
	return errors.Join(within(ctx, patience, func() error {
		item, err := dynamo.Get(ctx, client, s.outputs["PersonalAccessTokensTable"], key)
		if err == nil && item.Time(pat.AttributeSeenAt) == nil {
			err = errors.New("the token has not been seen")
		}
		return err
	}), s.deleteToken(ctx, made))
}

// tryStream changes a lifetime over HTTP and waits for the toggles' flags, and for what the function on the stream says of it: the sweep
// sets flags too. Of the seeded toggles of type release dark-mode is 3 days old and new-checkout 55; the other two are archived and stale.
func tryStream(ctx context.Context, s *stack, patience time.Duration) (err error) {
	const path, usual = "/api/admin/feature-types/release/lifetime", `{"lifetimeDays":40}`
	if err := s.put(ctx, path, usual); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.put(ctx, path, usual)) }()
	for _, change := range []struct {
		body    string
		flagged map[string]bool
	}{
		{`{"lifetimeDays":2}`, map[string]bool{"dark-mode": true, "new-checkout": true, "old-banner": false, "legacy-login": false}},
		{`{"lifetimeDays":4}`, map[string]bool{"dark-mode": false, "new-checkout": true, "old-banner": false, "legacy-login": false}},
		{`{"lifetimeDays":null}`, map[string]bool{"dark-mode": false, "new-checkout": false, "old-banner": false, "legacy-login": false}},
		{`{"lifetimeDays":54}`, map[string]bool{"dark-mode": false, "new-checkout": true, "old-banner": false, "legacy-login": false}},
	} {
		started := time.Now()
		if err := s.put(ctx, path, change.body); err != nil {
			return err
		}
		if err := s.awaitFlags(ctx, patience, change.flagged); err != nil {
			return fmt.Errorf("after %s: %w", change.body, err)
		}
		if err := within(ctx, patience, func() error { return s.reevaluated(ctx, started) }); err != nil {
			return fmt.Errorf("after %s: %w", change.body, err)
		}
	}
	return nil
}

// reevaluated looks for the line of a re-evaluation that the stream has started.
func (s *stack) reevaluated(ctx context.Context, since time.Time) error {
	lines, err := s.logLines(ctx, "ReevaluateStalenessFunction", since)
	if err != nil {
		return err
	}
	done := regexp.MustCompile(`toggles re-evaluated.*trigger\W+stream.*featureType\W+release`)
	if !slices.ContainsFunc(lines, done.MatchString) {
		return fmt.Errorf("the function on the stream says nothing of it, but %q", lines)
	}
	return nil
}

// trySweep makes a toggle that nobody has flagged, and calls the function of the schedule.
func trySweep(ctx context.Context, s *stack, patience time.Duration) error {
	name, err := s.makeOverdueToggle(ctx)
	if err != nil {
		return err
	}
	if err := s.invoke(ctx, "SweepStalenessFunction"); err != nil {
		return err
	}
	return s.awaitFlags(ctx, patience, map[string]bool{name: true})
}

// invoked says whether a function's log has that many calls.
func (s *stack) invoked(ctx context.Context, function string, times int) error {
	lines, err := s.logLines(ctx, function, time.UnixMilli(0))
	if err != nil {
		return err
	}
	calls := 0
	for _, line := range lines {
		if strings.HasPrefix(line, "REPORT ") {
			calls++
		}
	}
	if calls < times {
		return fmt.Errorf("%s was called %d times, want %d", function, calls, times)
	}
	return nil
}

// makeOverdueToggle writes a toggle that has outlived its type's lifetime, of which only a sweep can know.
func (s *stack) makeOverdueToggle(ctx context.Context) (name string, err error) {
	toggles, err := s.toggles()
	if err != nil {
		return "", err
	}
	name = "overdue-" + rand.Text()
	return name, toggles.Create(ctx, feature.Feature{
		Name: name, Project: "default", Type: "experiment", CreatedAt: time.Now().AddDate(-1, 0, 0),
	})
}

func (s *stack) toggles() (*feature.Store, error) {
	client, err := s.dynamoDB()
	if err != nil {
		return nil, err
	}
	return feature.NewStore(client, s.tables()), nil
}

// awaitFlags waits until toggles are flagged as potentially stale or not.
func (s *stack) awaitFlags(ctx context.Context, patience time.Duration, want map[string]bool) error {
	toggles, err := s.toggles()
	if err != nil {
		return err
	}
	return within(ctx, patience, func() error {
		got := map[string]bool{}
		for name := range want {
			toggle, err := toggles.Get(ctx, name)
			if err != nil {
				return err
			}
			got[name] = toggle.PotentiallyStale
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("the toggles' flags:\n%s", diff)
		}
		return nil
	})
}
