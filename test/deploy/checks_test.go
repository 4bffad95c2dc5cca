package deploy_test

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	gocmp "github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/accesslog"
	"toggleadmin/test/script"
)

// check is a promise of a deployed and seeded stack.
type check struct {
	name string
	run  func(s *stack) error
}

var checks = []check{
	{"the end-to-end scripts", checkScripts},
	{"the authorizer writes seenAt", checkSeen},
	{"lines of the access log are counted", checkTraffic},
	{"the stream re-evaluates toggles", checkStream},
	{"the sweep flags toggles", checkSweep},
}

// checkAll runs each check as a step.
func (s *stack) checkAll(t *testing.T) {
	t.Helper()
	for _, c := range checks {
		step(t, c.name, func(t *testing.T) {
			started := time.Now()
			if err := c.run(s); err != nil {
				t.Error(err, s.loggedErrors(t, started))
			}
		})
	}
}

func checkScripts(s *stack) error {
	file := filepath.Join(s.dir, "credentials.json")
	content, err := json.Marshal(s.credentials)
	if err = errors.Join(err, os.WriteFile(file, content, 0o600)); err != nil {
		return err
	}
	cmd := exec.CommandContext(s.ctx, "go", "test", "-count=1", ".")
	cmd.Dir = filepath.Join("..", "e2e")
	cmd.Env = append(os.Environ(), "BASE_URL="+s.baseURL, "CREDENTIALS="+file, "ENVIRONMENT="+script.Ministack)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}

func checkSeen(s *stack) error {
	created, err := s.createToken("seen " + rand.Text())
	if err = cmp.Or(err, s.use(created.Secret, http.StatusOK)); err != nil {
		return err
	}
	return errors.Join(within(s.ctx, func() error {
		item, err := dynamo.Get(s.ctx, s.db, s.tables.PersonalAccessTokens,
			pat.Key(s.credentials.ServiceAccounts[0].ID, created.ID))
		if err == nil && item.Time(pat.AttributeSeenAt) == nil {
			err = errors.New("seenAt is not written")
		}
		return err
	}), s.deleteToken(created))
}

// streamPrefix begins the names of log streams that tests write.
const streamPrefix = "requests-"

// checkTraffic writes lines to the group of the access log, which the emulator does not do, and waits until they are
// counted.
func checkTraffic(s *stack) error {
	want, err := s.usage()
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	first := mathrand.IntN(1 << 30) // each call uses other IDs
	var lines []accesslog.Line
	for _, kind := range []struct {
		path, group   string
		status, times int
	}{
		{"/api/admin/context", "successful-requests", 200, 5},
		{"/api/admin/context", "client-errors", 401, 3},
		{"/api/admin/service-account/{id}/token", "client-errors", 409, 1},
		{"/api/admin/feature-types", "server-errors", 503, 4},
		{"/{proxy+}", "", 404, 6}, // not counted
	} {
		for range kind.times {
			lines = append(lines, accesslog.Line{N: first + len(lines), Time: now, Path: kind.path, Status: kind.status})
		}
		if kind.group != "" {
			want[kind.path+" "+kind.group] += kind.times
		}
	}
	if err := s.writeAccessLog(lines); err != nil {
		return err
	}
	return within(s.ctx, func() error {
		got, err := s.usage()
		if err == nil && !maps.Equal(want, got) {
			err = fmt.Errorf("reported usage:\n%s", gocmp.Diff(want, got))
		}
		return err
	})
}

// writeAccessLog writes lines in the format of the template, in a log stream of their own.
func (s *stack) writeAccessLog(lines []accesslog.Line) error {
	template, err := samtemplate.Load(filepath.Join("..", "..", "template.yaml"), samtemplate.Settings{})
	if err != nil {
		return err
	}
	delivery, err := accesslog.Delivery("requests", template.API.AccessLogFormat, lines)
	if err != nil {
		return err
	}
	messages, err := accesslog.Messages(delivery.AWSLogs.Data)
	if err != nil {
		return err
	}
	events := make([]types.InputLogEvent, len(messages))
	for i := range messages {
		events[i] = types.InputLogEvent{Message: &messages[i], Timestamp: aws.Int64(time.Now().UnixMilli())}
	}
	client, group, stream := cloudwatchlogs.NewFromConfig(s.config), s.physical["AccessLogs"], streamPrefix+rand.Text()
	if _, err := client.CreateLogStream(s.ctx, &cloudwatchlogs.CreateLogStreamInput{LogGroupName: &group,
		LogStreamName: &stream}); err != nil {
		return err
	}
	_, err = client.PutLogEvents(s.ctx, &cloudwatchlogs.PutLogEventsInput{LogGroupName: &group, LogStreamName: &stream,
		LogEvents: events})
	return err
}

// usage returns the reported number of requests of this month by path and group.
func (s *stack) usage() (map[string]int, error) {
	var report struct {
		APIData []struct {
			APIPath string
			Days    []struct {
				TrafficTypes []struct {
					Group string
					Count int
				}
			}
		}
	}
	_, err := s.request(http.MethodGet, "/api/admin/metrics/traffic/"+time.Now().UTC().Format("2006-01"), "",
		http.StatusOK, &report)
	counts := map[string]int{}
	for _, api := range report.APIData {
		for _, day := range api.Days {
			for _, group := range day.TrafficTypes {
				counts[api.APIPath+" "+group.Group] += group.Count
			}
		}
	}
	return counts, err
}

var reevaluated = regexp.MustCompile(`toggles re-evaluated.*trigger\W+stream.*featureType\W+release`)

// checkStream changes a lifetime and waits for the flags and, because the sweep sets flags, too, for the log line of
// the function. The seeded toggles of type release: dark-mode is 3 days old, new-checkout 55. The others are archived
// or stale.
func checkStream(s *stack) (err error) {
	setLifetime := func(days string) error {
		_, err := s.request(http.MethodPut, "/api/admin/feature-types/release/lifetime", `{"lifetimeDays":`+days+`}`,
			http.StatusOK, nil)
		return err
	}
	defer func() { err = errors.Join(err, setLifetime("40")) }()
	for _, change := range []struct {
		days                  string
		darkMode, newCheckout bool
	}{{"40", false, true}, {"2", true, true}, {"4", false, true}, {"null", false, false}, {"54", false, true}} {
		started := time.Now()
		if err := setLifetime(change.days); err != nil {
			return err
		}
		err := s.awaitFlags(map[string]bool{
			"dark-mode": change.darkMode, "new-checkout": change.newCheckout, "old-banner": false, "legacy-login": false,
		})
		if err == nil && change.days != "40" { // it may be the lifetime already
			err = s.awaitLog("ReevaluateStalenessFunction", started, 1, reevaluated)
		}
		if err != nil {
			return fmt.Errorf("with a lifetime of %s days: %w", change.days, err)
		}
	}
	return nil
}

// checkSweep calls the function of the schedule.
func checkSweep(s *stack) error {
	name, err := s.createOverdueToggle()
	if err != nil {
		return err
	}
	output, err := s.runSAM("remote", "invoke", "SweepStalenessFunction", "--stack-name", s.name, "--region", region,
		"--event", "{}")
	if err == nil && strings.Contains(output, "errorMessage") {
		err = errors.New(output)
	}
	return cmp.Or(err, s.awaitFlags(map[string]bool{name: true}))
}

// createOverdueToggle creates a toggle that only a sweep flags.
func (s *stack) createOverdueToggle() (name string, err error) {
	name = "overdue-" + rand.Text()
	return name, feature.NewStore(s.db, s.tables, eventlog.New(s.db, s.tables, time.Now, 0)).Create(s.ctx, feature.Feature{
		Name: name, Project: "default", Type: "experiment", CreatedAt: time.Now().AddDate(-1, 0, 0),
	})
}

// awaitFlags waits until toggles are potentially stale or not.
func (s *stack) awaitFlags(want map[string]bool) error {
	return within(s.ctx, func() error {
		got := map[string]bool{}
		for name := range want {
			toggle, err := feature.NewStore(s.db, s.tables, nil).Get(s.ctx, name)
			if err != nil {
				return err
			}
			got[name] = toggle.PotentiallyStale
		}
		if !maps.Equal(want, got) {
			return fmt.Errorf("potentially stale: %v, want %v", got, want)
		}
		return nil
	})
}

// awaitLog waits until a function has logged a number of lines that match.
func (s *stack) awaitLog(function string, since time.Time, number int, line *regexp.Regexp) error {
	return within(s.ctx, func() error {
		lines, err := s.logLines(function, since)
		matching := slices.DeleteFunc(slices.Clone(lines), func(text string) bool { return !line.MatchString(text) })
		if err == nil && len(matching) < number {
			err = fmt.Errorf("%s logged %d lines that match %s, want %d: %q", function, len(matching), line, number, lines)
		}
		return err
	})
}
