package eventsearch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/test/helper/assert"
)

// The data of events have the ids of owners, and responses their current names.
func TestNamesOfOwners(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.addPeople(t, "Ada")
	f.Put(t, f.Tables[accesstable.Table], accesstable.MarshalGroup(accesstable.Group{ID: 3, Name: "Checkout"}))
	change := func(data, preData string) {
		f.record(t.Context(), t, eventlog.Change{
			Type: eventlog.FeatureUpdated, Subject: eventlog.Subject("toggle:a"), FeatureName: "a", Project: "default",
			Data: json.RawMessage(data), PreData: json.RawMessage(preData),
		})
	}
	change(`{"owner":{"kind":"user","id":1}}`, `{"owner":{"kind":"group","id":3}}`)
	change(`{"owner":{"kind":"user","id":9}}`, `{"owner":{"kind":"group","id":9}}`)
	change(`{"owner":{"kind":"text","name":"X"}}`, `{"description":"the \"owner\""}`)
	response := f.search(t, "feature=IS:a")
	for _, part := range []string{
		`"data":{"owner":{"kind":"user","id":1,"name":"Ada"}},"preData":{"owner":{"kind":"group","id":3,"name":"Checkout"}}`,
		`{"kind":"user","id":9,"name":"deleted user 9"}},"preData":{"owner":{"kind":"group","id":9,"name":"deleted group 9"}}`,
		`"data":{"owner":{"kind":"text","name":"X"}},"preData":{"description":"the \"owner\""}`,
	} {
		assert.Equal(t, "", map[bool]string{false: response + " lacks " + part}[strings.Contains(response, part)])
	}
}
