package browser_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/chromedp/cdproto/page"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/background/usagemerger"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/operator/transfer"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
)

// service is a running service with its own data.
type service struct {
	local.Running
	Clock        time.Time // where the clocks of the service and of the pages stand still; zero: nowhere
	folder       string    // of the script
	issuer       *issuer   // nil: none
	printed, log process.Output
	ahead        atomic.Int64 // of the service's clock, in nanoseconds
}

// start starts a service with the configuration in service.json: Clock, and the properties of local.Config, in which
// OIDCIssuer is the algorithm of a new issuer.
func start(tb testing.TB, folder string) *service {
	tb.Helper()
	s := &service{folder: folder}
	c := local.Config{DataDir: filepath.Join(folder, "data"), Stdout: &s.printed, Stderr: &s.log}
	c.Now = func() time.Time { return s.now().Add(time.Duration(s.ahead.Load())) }
	file, err := os.ReadFile(filepath.Join(folder, "service.json"))
	if !errors.Is(err, fs.ErrNotExist) {
		assert.OK(tb, errors.Join(err, json.Unmarshal(file, &c), json.Unmarshal(file, s)))
	}
	if c.OIDCIssuer != "" {
		s.issuer = startIssuer(tb, c.OIDCIssuer)
		c.OIDCIssuer, c.OIDCClientID = s.issuer.url, "console"
	}
	s.Running = localtest.Start(tb, c)
	return s
}

func (s *service) now() time.Time {
	if s.Clock.IsZero() {
		return time.Now()
	}
	return s.Clock
}

// serves reports whether pages may send requests to a URL.
func (s *service) serves(u *url.URL) bool {
	origin := u.Scheme + "://" + u.Host
	return origin == s.BaseURL || s.issuer != nil && origin == s.issuer.url || u.Scheme == "data" || u.Scheme == "blob" ||
		u.String() == "about:blank"
}

// advance moves the clock of the service, and that of the page if it stands still.
func (b *tab) advance(duration string) {
	b.t.Helper()
	by, err := time.ParseDuration(duration)
	assert.OK(b.t, err)
	ahead := b.service.ahead.Add(int64(by))
	if b.service.Clock.IsZero() {
		return
	}
	clock := clockAt(b.service.Clock.Add(time.Duration(ahead)))
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: clock})
	b.run(clock)
}

// importFile imports a file of the script as toggleadmin does, at the time of the service.
func (b *tab) importFile(name string) {
	b.t.Helper()
	document, err := operator.ParseImport(name, []byte(b.script.ReadFile(name)))
	assert.OK(b.t, err)
	now := func() time.Time { return b.service.now().Add(time.Duration(b.service.ahead.Load())) }
	report, err := operator.New(b.installation(), now, rand.Reader).
		Import(b.t.Context(), document, transfer.Options{Progress: func(string, int, int) {}})
	assert.OK(b.t, err)
	assert.Equal(b.t, 0, len(report.Features.Skipped))
}

// count counts the requests of a file as functions/record-traffic does.
func (b *tab) count(file string) {
	b.t.Helper()
	batch := &traffic.Batch{ID: file}
	for line := range strings.Lines(b.script.ReadFile(file)) {
		var u traffic.Usage
		var day string
		_, err := fmt.Sscan(line, &day, &u.APIPath, &u.Counts.Successful, &u.Counts.ClientErrors, &u.Counts.ServerErrors)
		assert.OK(b.t, err)
		u.Day, err = time.Parse(time.DateOnly, day)
		assert.OK(b.t, err)
		batch.Usage = append(batch.Usage, u)
	}
	i := b.installation()
	_, err := traffic.NewStore(i.Client, i.Tables).Record(b.t.Context(), batch, time.Now())
	assert.OK(b.t, err)
}

// sweepUsage computes what the API reports of the use of toggles, as functions/sweep-usage does each minute.
func (b *tab) sweepUsage() {
	b.t.Helper()
	b.sweepUsageAt(b.service.now().Add(time.Duration(b.service.ahead.Load())))
}

func (b *tab) sweepUsageAt(now time.Time) {
	b.t.Helper()
	i := b.installation()
	merger := usagemerger.New(i.Client, i.Tables, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	_, err := merger.Sweep(b.t.Context(), nil)
	assert.OK(b.t, err)
}

// use records that an application used a toggle in an environment, which it did a duration ago.
func (b *tab) use(toggle, environment, application, ago string) {
	b.t.Helper()
	by, err := time.ParseDuration(ago)
	assert.OK(b.t, err)
	hour := usage.HourOf(b.service.now().Add(-by))
	tally := usage.NewTally()
	tally.Add(toggle, application, usage.Counts{Yes: 1})
	tally.See(toggle, b.service.now().Add(-by))
	part := usagetable.Part{Kind: usagetable.KindTally, Hour: hour, Environment: environment, ID: application + toggle}
	item, err := usagetable.MarshalPart(part, tally)
	assert.OK(b.t, err)
	i := b.installation()
	_, err = i.Client.PutItem(b.t.Context(),
		&dynamodb.PutItemInput{TableName: new(i.Tables[usagetable.Table]), Item: item})
	assert.OK(b.t, err)
	b.sweepUsageAt(hour.Add(30 * time.Minute)) // while it is the running hour, which is swept each time
}

func (b *tab) installation() *installation.Installation {
	b.t.Helper()
	i, err := installation.OpenLocal(b.t.Context(), b.script.MkAbs("data"))
	assert.OK(b.t, err)
	return i
}

// hasDownloaded waits until the page has saved a file.
func (b *tab) hasDownloaded(file, text string) {
	b.t.Helper()
	b.await("the download of "+file, func() (bool, error) {
		got, err := os.ReadFile(b.script.MkAbs(file))
		return string(got) == text, err
	})
}
