package eventlog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/test/helper/assert"
)

type object = map[string]any

// update records an update of a context field and returns its event.
func (f *fixture) update(tb testing.TB, before, after any) eventlog.Event {
	tb.Helper()
	f.record(tb.Context(), tb, eventlog.Change{
		Type: eventlog.ContextFieldUpdated, Subject: "field:f", Data: after, PreData: before,
	})
	newest, err := f.Newest(tb.Context(), eventlog.Filter{}, 1)
	assert.OK(tb, err)
	if n := len(newest[0].Data) + len(newest[0].PreData); n > eventlog.MaxSize {
		tb.Errorf("%d bytes", n)
	}
	return newest[0]
}

// Of data that are too large, the properties that change stay, and the order of a list does not matter.
func TestLongUnchangedData(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	values := make([]any, 100)
	for i := range values {
		values[i] = strings.Repeat("<", 150) + fmt.Sprint(i)
	}
	reordered := slices.Clone(values)
	slices.Reverse(reordered)
	a, b := strings.Repeat("a", 1000), strings.Repeat("b", 1000)
	e := f.update(t, object{"description": b, "legalValues": values}, object{"description": a, "legalValues": values})
	assert.Equal(t, `{"description":"`+a+`","legalValues":{"length":100}}`, string(e.Data))
	assert.Equal(t, `{"description":"`+b+`","legalValues":{"length":100}}`, string(e.PreData))
	e = f.update(t, object{"legalValues": values}, object{"legalValues": reordered})
	assert.Equal(t, `{"legalValues":{"added":[],"changed":[],"length":100}}`, string(e.Data))
	e = f.update(t, object{"legalValues": values[50:]}, object{"legalValues": values})
	if strings.Count(string(e.Data), "<<") < 50*75 {
		t.Errorf("%s", e.Data)
	}
}

// Data that are too large are shortened property by property.
func TestLongData(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	values := make([]any, 1000)
	for i := range values {
		values[i] = object{"value": fmt.Sprintf("a value: %025d", i)}
	}
	before := append(slices.Clone(values[:998]), object{"value": "gone"},
		object{"value": fmt.Sprintf("a value: %025d", 999), "description": "d"})
	e := f.update(t, object{"name": "f", "legalValues": before},
		object{"name": "f", "description": strings.Repeat("é", 1000), "legalValues": values})
	assert.Equal(t, `{"description":"`+strings.Repeat("é", 1000)+`","legalValues":{"added":[{"value":"a value: `+
		`0000000000000000000000998"}],"changed":[{"value":"a value: 0000000000000000000000999"}],"length":1000},`+
		`"name":"f"}`, string(e.Data))
	assert.Equal(t, `{"legalValues":{"changed":[{"description":"d","value":"a value: 0000000000000000000000999"}],`+
		`"length":1000,"removed":[{"value":"gone"}]},"name":"f"}`, string(e.PreData))
	e = f.update(t, object{"description": "d"}, object{"description": strings.Repeat("é", 10_000)})
	assert.Equal(t, `{"description":{"length":10000,"sha256":"29976fa6fada02b5"}}`, string(e.Data))
	const first = `[{"value":"a value: 0000000000000000000000000"},`
	e = f.update(t, nil, object{"legalValues": values})
	if !strings.HasPrefix(string(e.Data), `{"legalValues":{"added":`+first) {
		t.Errorf("%s", e.Data)
	}
	e = f.update(t, object{"legalValues": values}, nil)
	if !strings.HasPrefix(string(e.PreData), `{"legalValues":{"changed":[],"length":1000,"removed":`+first) {
		t.Errorf("%s", e.PreData)
	}
}
