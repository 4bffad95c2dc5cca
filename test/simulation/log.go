package simulation

import "fmt"

// readLog reads the event log page by page, while others write to it. It must find each event that was recorded before
// it began, once. How many events it finds is known only if it has read all of them.
func (a *actor) readLog() {
	before := map[int64]bool{}
	for _, all := range a.log {
		for _, e := range all {
			before[e.Int("id")] = true
		}
	}
	limit := choose(a, 3, 20, 1000)
	last, cursor := int64(0), ""
	for range 1000 {
		var page struct {
			Events []struct{ ID int64 }
			Next   string
		}
		request := fmt.Sprintf("search/events?limit=%d", limit)
		if cursor != "" {
			request += "&cursor=" + cursor
		}
		if !a.get(a.admin, request, &page).ok() {
			if a.over || a.IntN(4) == 0 {
				return
			}
			continue
		}
		for _, e := range page.Events {
			if last != 0 && e.ID >= last {
				a.fail("the event %d is not older than the one before it in the pages of the log, %d", e.ID, last)
			}
			last = e.ID
			delete(before, e.ID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for id := range before {
		if cursor == "" {
			a.fail("the pages of the log do not contain the event %d", id)
		}
	}
}
