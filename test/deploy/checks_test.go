package deploy_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/accesslog"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/script"
)

// checkAll checks a deployed and seeded stack.
func (s *stack) checkAll(t *testing.T) {
	t.Helper()
	started := time.Now()
	defer func() {
		if t.Failed() {
			t.Log(s.loggedErrors(t, started))
		}
	}()
	step(t, "lines of the access log are counted", s.checkTraffic)
	step(t, "the stream re-evaluates toggles", s.checkStream)
	step(t, "the schedule sweeps", s.checkSweep)
	// They change lifetimes, so that the stream sets flags, too.
	step(t, "the end-to-end scripts", func(t *testing.T) { s.runScripts(t, "../e2e/testdata") })
}

// runScripts runs the scripts of a folder.
func (s *stack) runScripts(t *testing.T, folder string) {
	t.Helper()
	script.Run(t, script.Environment{Name: script.Ministack, BaseURL: s.baseURL, Credentials: s.credentials}, folder)
}

// checkTraffic writes lines to the group of the access log, which the emulator does not do, and waits until they are
// counted.
func (s *stack) checkTraffic(t *testing.T) {
	template, err := samtemplate.Load(absolute(t, "template.yaml"), samtemplate.Settings{})
	assert.OK(t, err)
	now, first := time.Now().UTC(), rand.IntN(1<<30) // each call uses other IDs
	var events []types.InputLogEvent
	for i, line := range []accesslog.Line{
		{Path: "/api/admin/context", Status: 200}, {Path: "/{proxy+}", Status: 404}, // not counted
		{Path: "/api/admin/context", Status: 200},
	} {
		line.N, line.Time = first+i, now
		events = append(events, types.InputLogEvent{Message: aws.String(line.Text(template.API.AccessLogFormat)),
			Timestamp: aws.Int64(now.UnixMilli())})
	}
	before := s.counted(t)
	client, group, stream := cloudwatchlogs.NewFromConfig(s.config), s.physical["AccessLogs"], fmt.Sprint(first)
	_, err = client.CreateLogStream(t.Context(), &cloudwatchlogs.CreateLogStreamInput{LogGroupName: &group,
		LogStreamName: &stream})
	assert.OK(t, err)
	_, err = client.PutLogEvents(t.Context(), &cloudwatchlogs.PutLogEventsInput{LogGroupName: &group,
		LogStreamName: &stream, LogEvents: events})
	assert.OK(t, err)
	await(t, "the requests are counted", func() bool { return s.counted(t) == before+2 })
}

// counted returns the number of counted requests of this month.
func (s *stack) counted(t *testing.T) (n int64) {
	t.Helper()
	report, err := traffic.NewStore(s.Client, s.Tables).Report(t.Context(), time.Now().UTC().Format("2006-01"))
	assert.OK(t, err)
	for _, u := range report {
		n += u.Counts.Successful + u.Counts.ClientErrors + u.Counts.ServerErrors
	}
	return n
}

var reevaluated = regexp.MustCompile(`toggles re-evaluated.*trigger\W+stream.*featureType\W+release`)

// checkStream changes a lifetime. It waits for the flag of a toggle that is three days old and, because the sweep sets
// flags, too, for the log line of the function.
func (s *stack) checkStream(t *testing.T) {
	store := featuretype.NewStore(s.Client, s.Tables, s.Log(time.Now))
	for i, days := range []int64{2, 40} {
		started := time.Now()
		_, err := store.SetLifetime(t.Context(), "release", &days)
		assert.OK(t, err)
		s.awaitFlag(t, "dark-mode", i == 0)
		await(t, "the log line", func() bool {
			return slices.ContainsFunc(s.logLines(t, "Logs", started), reevaluated.MatchString)
		})
	}
}

// checkSweep creates a toggle without a flag, which only a sweep sets: the stream has no more events.
func (s *stack) checkSweep(t *testing.T) {
	store := feature.NewStore(s.Client, s.Tables, eventlog.Discard(s.Client, time.Now))
	_, err := store.Create(t.Context(), toggle.Feature{
		Name: "overdue", Project: "default", Type: "experiment", CreatedAt: time.Now().AddDate(-1, 0, 0),
	})
	assert.OK(t, err)
	s.awaitFlag(t, "overdue", true)
}

// awaitFlag waits until a toggle is potentially stale or not.
func (s *stack) awaitFlag(t *testing.T, name string, want bool) {
	t.Helper()
	await(t, fmt.Sprintf("%s is potentially stale: %t", name, want), func() bool {
		toggle, err := feature.NewStore(s.Client, s.Tables, nil).Get(t.Context(), name)
		assert.OK(t, err)
		return toggle.PotentiallyStale == want
	})
}
