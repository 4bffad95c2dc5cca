package feature_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/toggles"
)

// A toggle above the limit is not created. Archived toggles count, deleted ones do not.
func TestLimit(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	h := toggles.Handlers(db.Store)
	h.Handlers["create"] = feature.Create(db.Store, 2, toggles.Now, func() string { return "link" })
	create := func(name string, want int) {
		t.Helper()
		h.ExpectStatus(t.Context(), t, "create", "p/", `{"name":"`+name+`"}`, want)
	}
	create("a", 201)
	create("b", 201)
	h.Expect(t.Context(), t, "archive", "p/a", "", "202")
	h.Expect(t.Context(), t, "create", "p/", `{"name":"c"}`,
		"403 NoAccessError: The maximum number of toggles (2), including archived ones, is reached. Delete one first.")
	h.Expect(t.Context(), t, "remove", "/a", "", "200")
	create("c", 201)
	assert.OK(t, db.Store.CheckLimit(t.Context(), 0))
}

// The strategies of a toggle use a limited number of context fields and segments, and of bytes.
func TestLimitsOfAToggle(t *testing.T) {
	t.Parallel()
	db := toggles.NewFixture(t)
	db.Create(t, `{"name":"a"}`)
	var fields []string
	for i := range toggle.MaxContextFields + 1 {
		fields = append(fields, fmt.Sprint("field", i))
	}
	var ids []int64
	for id := range int64(toggle.MaxSegments + 1) {
		ids = append(ids, id+1)
	}
	title := strings.Repeat("x", 300_000)
	for _, test := range []struct {
		change func(*toggle.Feature)
		want   string
	}{
		{
			func(f *toggle.Feature) { f.ContextFields = fields },
			"The `/body` must not make the toggle use more than 40 " +
				"context fields; it would use 41.",
		},
		{
			func(f *toggle.Feature) {
				f.SetEnvironment("prod", toggle.Environment{Strategies: []toggle.Strategy{{ID: "s", Segments: ids}}})
			},
			"The `/body/segments` property must not make the toggle use more than 20 segments; it would use 21.",
		},
		{
			func(f *toggle.Feature) {
				f.SetEnvironment("prod", toggle.Environment{Strategies: []toggle.Strategy{{ID: "s", Title: &title}}})
			},
			"The `/body` must not make the strategies of the toggle larger than 300000 bytes in all environments; they " +
				"would have 3001",
		},
	} {
		_, err := db.Store.Update(t.Context(), "a", func(f toggle.Feature) (toggle.Feature, error) {
			test.change(&f)
			return f, nil
		})
		if want := `update toggle "a": ValidationError: ` + test.want; !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
