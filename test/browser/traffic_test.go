package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	s := start(t, local.Config{RequestsOnly: true}) // counts no requests of the test itself
	last := time.Date(time.Now().Year(), time.Now().Month(), 0, 0, 0, 0, 0, time.UTC)
	month := last.Format("2006-01")
	usage := monthOfTraffic(last.Year(), last.Month(), last.Day())
	s.countTraffic(t, usage)
	b := openTab(t, s)
	downloads := b.downloads()
	b.signIn("admin", "#/traffic/"+month)
	b.sees(last.Format("January 2006"))

	c := sum(usage, func(traffic.Usage) bool { return true })
	all := []string{thousands(c.Successful + c.ClientErrors + c.ServerErrors), thousands(c.Successful),
		thousands(c.ClientErrors), thousands(c.ServerErrors)}
	b.is("document.querySelectorAll('.sums dd').length === 4")
	if diff := cmp.Diff(all,
		run[[]string](b, "[...document.querySelectorAll('.sums dd')].map(e => e.innerText)")); diff != "" {
		t.Errorf("sums: %s", diff)
	}
	if diff := cmp.Diff(append(slices.Clone(all[1:]), all[0]), b.cells("Month")); diff != "" {
		t.Errorf("the last line of the table: %s", diff)
	}
	day := sum(usage, func(u traffic.Usage) bool { return u.Day.Day() == 12 })
	title := last.AddDate(0, 0, 12-last.Day()).Format("Mon, Jan 2")
	cells := []string{thousands(day.Successful), thousands(day.ClientErrors), thousands(day.ServerErrors),
		thousands(day.Successful + day.ClientErrors + day.ServerErrors)}
	if diff := cmp.Diff(cells, b.cells(title)); diff != "" {
		t.Errorf("the line of a day: %s", diff)
	}
	b.pointAt(12, last.Day())
	b.sees(fmt.Sprintf("%s: %s successful, %s client errors, %s server errors", title, cells[0], cells[1], cells[2]))
	const path = "/api/admin/context"
	ofPath := sum(usage, func(u traffic.Usage) bool { return u.APIPath == path })
	if got := b.cells(path + "\t"); len(got) < 3 || got[0] != thousands(ofPath.Successful) ||
		got[1] != thousands(ofPath.ClientErrors) {
		t.Errorf("the line of a path: %q", got)
	}
	on[chromedp.Void](b, field("Path"), fmt.Sprintf("e => { e.value = %q; e.dispatchEvent(new Event('change')); }", path))
	b.is(fmt.Sprintf("document.querySelectorAll('.sums dd')[1].innerText === %q", thousands(ofPath.Successful)))

	b.click(button("Download CSV"))
	lines := []string{"day,path,successful-requests,client-errors,server-errors"}
	for _, u := range usage {
		lines = append(lines, fmt.Sprintf("%s,%s,%d,%d,%d", u.Day.Format(time.DateOnly), u.APIPath, u.Counts.Successful,
			u.Counts.ClientErrors, u.Counts.ServerErrors))
	}
	slices.Sort(lines[1:]) // by day and path
	got := strings.Split(b.file(filepath.Join(downloads, "traffic-"+month+".csv")), "\r\n")
	if diff := cmp.Diff(append(lines, ""), got); diff != "" {
		t.Errorf("the file: %s", diff)
	}

	b.click(link("‹ Previous month"))
	b.sees("No requests were counted in " + last.AddDate(0, 0, -last.Day()).Format("January 2006"))
	b.click(link("Next month ›"))
	b.is("document.querySelectorAll('.sums dd').length === 4")
}

// cells returns the cells of the row that contains a text, without its header.
func (b *tab) cells(text string) []string {
	b.t.Helper()
	return run[[]string](b, "[..."+rowOf(text)+".querySelectorAll('td')].map(e => e.innerText)")
}

// pointAt moves the mouse over the bar of a day.
func (b *tab) pointAt(day, days int) {
	b.t.Helper()
	b.is("document.querySelector('.chart .u-over') !== null")
	box := run[struct{ X, Y, Width, Height float64 }](b, `(plot => {
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

// file waits for a downloaded file, and returns its content.
func (b *tab) file(name string) (content string) {
	b.t.Helper()
	b.await(name+" was downloaded", func() (bool, error) {
		text, err := os.ReadFile(name)
		content = string(text)
		return err == nil, err
	})
	return content
}
