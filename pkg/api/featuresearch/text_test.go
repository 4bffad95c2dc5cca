package featuresearch_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"toggleadmin/pkg/api/featuresearch"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// A search by relevance orders names: the exact one, those that begin with the text, those with the text as a word, and
// the rest. Names with the same relevance are ordered alphabetically.
func TestRelevance(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"Pay"}`, `{"name":"payments"}`, `{"name":"pay-later"}`, `{"name":"new_pay.v2"}`,
		`{"name":"a-pay"}`, `{"name":"repay"}`, `{"name":"basket","description":"how to pay later"}`)
	search := db.Searches(db.Client)
	for _, test := range []struct {
		query string
		names string
	}{
		{"query=pay", "Pay pay-later payments a-pay new_pay.v2 basket repay"},
		{"query=pay&sortOrder=desc", "basket repay a-pay new_pay.v2 pay-later payments Pay"},
		{"query=pay&offset=1&limit=2", "pay-later payments"},
		{"query=pay&state=IS:potentially-stale", "Pay pay-later payments a-pay new_pay.v2 basket repay"},
		// several words count as the least relevant one
		{"query=later%20pay", "pay-later basket"},
		{"query=v2,repay", "repay new_pay.v2"},
		{"query=pay-v2,pay.v2", "new_pay.v2"},
		{"", "Pay a-pay basket new_pay.v2 pay-later payments repay"},
	} {
		status, _, text := search.Serve(t.Context(), operation.Request{Operation: "search",
			Query: "sortBy=relevance&" + test.query})
		var names []string
		for _, match := range regexp.MustCompile(`{"name":"([^"]+)"`).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		assert.Equal(t, 200, status)
		assert.Equal(t, test.names, strings.Join(names, " "))
	}
}

// A text is found in a description that consists of it, in each Unicode form.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", ",", " a , b\tc ", "Zu\u0308rich", "\u212b,\u0301", "\xff \u2028x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const joiner = '\u034f' // which package norm adds to more than 30 combining characters
		if strings.ContainsRune(norm.NFD.String(text), joiner) {
			return
		}
		toggle := toggle.Feature{Name: "f", Description: &text}
		for _, spelling := range []string{text, norm.NFC.String(text), norm.NFD.String(text), " " + text + ","} {
			if !featuresearch.ParseText(spelling).Matches(toggle) {
				t.Errorf("%+q does not match %+q", spelling, text)
			}
		}
	})
}
