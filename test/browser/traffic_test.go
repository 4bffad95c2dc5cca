package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/local"
)

// The sums, the chart, both tables and the file have the numbers of the API (contract section 4.6).
func TestTrafficOfAMonth(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	s := start(t, local.Config{Now: func() time.Time { return now }, RequestsOnly: true}) // counts only this traffic:
	day := time.Date(2026, 10, 12, 0, 0, 0, 0, time.UTC)
	s.countTraffic(t, []traffic.Usage{
		{APIPath: "/api/admin/context", Day: day,
			Counts: traffic.Counts{Successful: 1200, ClientErrors: 30, ServerErrors: 4}},
		{APIPath: "/api/admin/user", Day: day, Counts: traffic.Counts{Successful: 45, ClientErrors: 5}},
		{APIPath: "/api/admin/context", Day: day.AddDate(0, 0, 1), Counts: traffic.Counts{Successful: 100}},
	})
	b := openTab(t, s)
	b.freeze(now)
	downloads := b.downloads()
	b.signIn("admin", "#/traffic/2026-10")
	b.sees("October 2026")
	b.hasSums("1,384", "1,345", "35", "4")
	for row, want := range map[string][]string{
		"Month":                {"1,345", "35", "4", "1,384"},
		"Mon, Oct 12":          {"1,245", "35", "4", "1,284"},
		"/api/admin/context\t": {"1,300", "30", "4", "1,334"},
	} {
		got := evaluate[[]string](b, "[..."+container([]string{"in", "row", row})+
			".querySelectorAll('td')].map(e => e.innerText)")
		if diff := cmp.Diff(want, got[:4]); diff != "" {
			t.Errorf("%s: %s", row, diff)
		}
	}
	b.pointAt(12, 31)
	b.sees("Mon, Oct 12: 1,245 successful, 35 client errors, 4 server errors")
	b.isAccessible()
	b.choose("Path", "/api/admin/context")
	b.hasSums("1,334", "1,300", "30", "4")

	b.click("button", "Download CSV")
	const want = "day,path,successful-requests,client-errors,server-errors\r\n" +
		"2026-10-12,/api/admin/context,1200,30,4\r\n" +
		"2026-10-12,/api/admin/user,45,5,0\r\n" +
		"2026-10-13,/api/admin/context,100,0,0\r\n"
	b.await("the file was downloaded", func() (bool, error) {
		got, err := os.ReadFile(filepath.Join(downloads, "traffic-2026-10.csv"))
		if string(got) != want {
			return false, fmt.Errorf("%q: %w", got, err)
		}
		return true, nil
	})
	b.click("link", "‹ Previous month")
	b.sees("No requests were counted in September 2026")
	b.click("link", "Next month ›")
	b.hasSums("1,384", "1,345", "35", "4")
}

// hasSums waits for the sums: all requests, successful ones, and those with errors.
func (b *tab) hasSums(sums ...string) {
	b.t.Helper()
	b.is(fmt.Sprintf("[...document.querySelectorAll('.sums dd')].map(e => e.innerText).join(' ') === %q",
		strings.Join(sums, " ")))
}

// pointAt moves the mouse over the bar of a day.
func (b *tab) pointAt(day, days int) {
	b.t.Helper()
	b.is("document.querySelector('.chart .u-over') !== null")
	box := evaluate[struct{ X, Y, Width, Height float64 }](b, `(plot => {
		plot.scrollIntoView({block: 'center'});
		return plot.getBoundingClientRect().toJSON();
	})(document.querySelector('.chart .u-over'))`)
	x := box.X + box.Width*(float64(day)-0.5)/float64(days)
	must(b.t, chromedp.Do(b.ctx, chromedp.MouseEvent(chromedp.MouseMoved, x, box.Y+box.Height/2)))
}

// downloads lets the page download files, and returns their folder.
func (b *tab) downloads() string {
	b.t.Helper()
	folder := b.t.TempDir()
	_, err := chromedp.CallBrowser(b.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		DownloadPath: folder,
	})
	must(b.t, err)
	return folder
}
