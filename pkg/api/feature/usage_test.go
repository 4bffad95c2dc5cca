package feature_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuresearch"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// counts returns the environments of a response with what was counted in them.
func counts(response string) string {
	var found []string
	for _, match := range regexp.MustCompile(`"name":"(dev|prod)".*?("yes":\d+,"no":\d+)`).FindAllStringSubmatch(response, -1) {
		found = append(found, match[1]+" "+match[2])
	}
	return strings.Join(found, ", ")
}

// createToggle creates the toggle f.
func createToggle(t *testing.T, a toggles.Active) {
	t.Helper()
	_, err := a.Store.Create(t.Context(), toggle.Feature{Name: "f", Project: "default", Type: "endless"})
	assert.OK(t, err)
}

// A toggle is returned with the usage of the running hour, the sum of all parts. A process reads it every ten seconds.
func TestUsageInResponses(t *testing.T) {
	t.Parallel()
	a, ctx := toggles.NewActive(t), t.Context()
	createToggle(t, a)
	clock := time.Date(2026, 11, 27, 8, 59, 45, 0, time.UTC)
	a.Store.Reader = a.Store.WithUsage(func() time.Time { return clock })
	h := toggles.Handlers(a.Store)
	h.Handlers["search"] = featuresearch.Search(a.Store.Reader, featuresearch.NewSearcher(a.Client, a.Tables, toggles.Now))
	count := func(hour time.Time, id, environment string, byApplication usage.ByApplication) {
		item, err := usagetable.MarshalPart(usagetable.Part{
			Kind: usagetable.KindTally, Hour: usage.HourOf(hour), Environment: environment, ID: id,
		}, usage.Tally{Features: map[string]usage.ByApplication{"f": byApplication}})
		assert.OK(t, err)
		a.Put(t, a.Tables[usagetable.Table], item)
	}
	responses := func() map[string]string {
		_, _, search := h.Serve(ctx, operation.Request{Operation: "search"})
		return map[string]string{
			"get":    counts(h.Call(ctx, "get", "default/f", "")),
			"update": counts(h.Call(ctx, "update", "default/f", "{}")),
			"list":   counts(h.Call(ctx, "list", "default/", "")),
			"search": counts(search),
		}
	}
	all := func(text string) map[string]string {
		return map[string]string{"get": text, "update": text, "list": text, "search": text}
	}
	count(clock.Add(-time.Hour), "a", "prod", usage.ByApplication{"shop": {Yes: 64}})
	count(clock, "a", "prod", usage.ByApplication{"shop": {Yes: 1, No: 2}, "blog": {Yes: 4}})
	count(clock, "b", "prod", usage.ByApplication{"shop": {Yes: 8}})
	assert.Equal(t, all(`dev "yes":0,"no":0, prod "yes":13,"no":2`), responses())

	count(clock, "c", "dev", usage.ByApplication{"shop": {No: 1}})
	clock = clock.Add(9 * time.Second)
	assert.Equal(t, all(`dev "yes":0,"no":0, prod "yes":13,"no":2`), responses())
	clock = clock.Add(time.Second)
	assert.Equal(t, all(`dev "yes":0,"no":1, prod "yes":13,"no":2`), responses())
	clock = clock.Add(5 * time.Second) // 09:00
	assert.Equal(t, all(`dev "yes":0,"no":0, prod "yes":0,"no":0`), responses())
}

// The numbers are right, or the request fails.
func TestUsageThatCannotBeRead(t *testing.T) {
	t.Parallel()
	a := toggles.NewActive(t)
	createToggle(t, a)
	tables := maps.Clone(a.Tables)
	tables[usagetable.Table] = "unknown"
	store := feature.NewStore(a.Client, tables, a.Log())
	store.Reader = store.WithUsage(toggles.Now)
	h := toggles.Handlers(store)
	for operation, path := range map[string]string{"get": "default/f", "list": "default/"} {
		h.ExpectStatus(t.Context(), t, operation, path, "", 503)
	}
}
