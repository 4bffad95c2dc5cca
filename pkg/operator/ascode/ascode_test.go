package ascode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/pkg/operator/ascode"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/localtest"
)

const source = "https://example.com/toggles"

// write writes files with toggles of the type operational that are on in production, and reads them.
func write(t *testing.T, names ...string) []*ascode.Toggle {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		text := "name: " + name + "\nproject: default\ntype: operational\nenvironments:\n" +
			"  production: {enabled: true, strategies: [{name: default}]}\n"
		assert.OK(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600))
	}
	all, err := ascode.Read([]string{dir})
	assert.OK(t, err)
	var toggles []*ascode.Toggle
	for _, r := range all {
		one, ok := r.(*ascode.Toggle)
		assert.Equal(t, true, ok)
		toggles = append(toggles, one)
	}
	return toggles
}

// resources returns toggles as resources.
func resources(toggles []*ascode.Toggle) (all []ascode.Resource) {
	for _, one := range toggles {
		all = append(all, one)
	}
	return all
}

func newClient(t *testing.T, service local.Running) *ascode.Client {
	t.Helper()
	return clientOf(t, service.BaseURL, service.Users[0].PAT)
}

func clientOf(t *testing.T, address, token string) *ascode.Client {
	t.Helper()
	api, err := apiclient.New(address, token)
	assert.OK(t, err)
	return ascode.NewClient(api)
}

func plan(t *testing.T, client *ascode.Client, toggles []*ascode.Toggle) ascode.Plan {
	t.Helper()
	p, err := client.Plan(t.Context(), resources(toggles), ascode.Options{Source: source})
	assert.OK(t, err)
	return p
}

// What somebody else changed or created since the plan is not overwritten. The rest is applied.
func TestApplyWhatThePlanHasSeen(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	assert.OK(t, client.Apply(t.Context(), plan(t, client, write(t, "a", "b")), func(ascode.Outcome) {}))
	toggles := write(t, "a", "b", "c", "d")
	for i := range toggles[:2] {
		toggles[i].Type = "release"
	}
	seen := plan(t, client, toggles)
	other := write(t, "a", "c")
	other[0].Description, other[1].Type = new("by somebody else"), "release"
	assert.OK(t, client.Apply(t.Context(), plan(t, client, other), func(ascode.Outcome) {}))
	var outcomes []string
	assert.OK(t, client.Apply(t.Context(), seen, func(o ascode.Outcome) {
		outcomes = append(outcomes, fmt.Sprintf("%s changed %t refused %t", o.Name, o.Changed, o.Error != ""))
	}))
	assert.Equal(t, []string{
		"a changed true refused true", "b changed false refused false", "c changed true refused true",
		"d changed false refused false",
	}, outcomes)
	assert.Equal(t, []string{"a", "c"}, names(plan(t, client, toggles)))
}

// A prune ends the dependency of a child, and archives nothing whose switch somebody else has changed since the plan.
func TestPruneWhatThePlanHasSeen(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	toggles := write(t, "child", "parent", "stays", "switched")
	toggles[0].Dependency = &ascode.Dependency{Feature: "parent"}
	assert.OK(t, client.Apply(t.Context(), plan(t, client, toggles), func(ascode.Outcome) {}))
	pruning := func(names ...string) ascode.Plan {
		p, err := client.Plan(t.Context(), resources(write(t, names...)), ascode.Options{Source: source, Prune: true})
		assert.OK(t, err)
		return p
	}
	seen := pruning("stays")
	assert.Equal(t, []string{"child", "parent", "switched"}, names(seen))
	off := write(t, "switched")
	off[0].Environments["production"] = ascode.Environment{}
	assert.OK(t, client.Apply(t.Context(), plan(t, client, off), func(ascode.Outcome) {}))
	var outcomes []string
	assert.OK(t, client.Apply(t.Context(), seen, func(o ascode.Outcome) {
		outcomes = append(outcomes, fmt.Sprintf("%s changed %t refused %t", o.Name, o.Changed, o.Error != ""))
	}))
	assert.Equal(t, []string{
		"child changed false refused false", "parent changed false refused false", "switched changed true refused true",
	}, outcomes)
	assert.Equal(t, []string{"switched"}, names(pruning("stays")))
}

func names(p ascode.Plan) (all []string) {
	for _, s := range p.Steps {
		all = append(all, s.Name)
	}
	return all
}

// An apply that ends in the middle leaves whole toggles, and another one ends in the state of the files.
func TestApplyAfterAnInterruption(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	client := newClient(t, service)
	toggles := write(t, "a", "b", "c")
	ctx, interrupt := context.WithCancel(t.Context())
	applied := 0
	err := client.Apply(ctx, plan(t, client, toggles), func(ascode.Outcome) { applied++; interrupt() })
	assert.Equal(t, []any{1, true}, []any{applied, errors.Is(err, context.Canceled)})
	left := plan(t, client, toggles)
	assert.Equal(t, []string{"b", "c"}, names(left))
	assert.OK(t, client.Apply(t.Context(), left, func(ascode.Outcome) {}))
	assert.Equal(t, 0, len(plan(t, client, toggles).Steps))
}

// describedToggle has a part of each kind. What it omits has a default.
const describedToggle = `name: a
project: default
type: operational
description: first
tags: [{type: simple, value: one}]
owner: {kind: text, name: Checkout}
keepUntil: "2999-01-31"
keepReason: because
dependency: {feature: parent, variants: [x]}
environments:
  development: {enabled: false, strategies: [{name: default, disabled: true}]}
  production:
    enabled: true
    strategies:
      - name: flexibleRollout
        title: some
        parameters: {rollout: "25", stickiness: userId}
        segments: [Some]
        constraints: [{contextName: userId, operator: IN, values: [" 1 ", "2"]}]
        variants: [{name: v1}, {name: v2}, {name: v3, weight: 100, weightType: fix, payload: {type: string, value: p}}]
---
name: parent
project: default
environments:
  production: {enabled: true, strategies: [{name: flexibleRollout, variants: [{name: x}]}]}
---
kind: segment
name: Some
constraints: [{contextName: userId, operator: IN, values: ["3"]}]
---
kind: segment
name: Other
constraints: []
`

// A plan sends no request that stores anything. It tries each toggle that differs, and no other.
func TestPlanTriesWhatDiffers(t *testing.T) {
	t.Parallel()
	service := localtest.Start(t, local.Config{DataDir: t.TempDir()})
	var tries, others atomic.Int64
	target, err := url.Parse(service.BaseURL)
	assert.OK(t, err)
	forward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut && r.URL.RawQuery == "dryRun=true":
			tries.Add(1)
		case r.Method != http.MethodGet:
			others.Add(1)
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	viewer := clientOf(t, proxy.URL, service.Users[2].PAT)
	planned := func(text string) ascode.Plan {
		t.Helper()
		file := filepath.Join(t.TempDir(), "toggles.yaml")
		assert.OK(t, os.WriteFile(file, []byte(text), 0o600))
		all, err := ascode.Read([]string{file})
		assert.OK(t, err)
		p, err := viewer.Plan(t.Context(), all, ascode.Options{Source: source})
		assert.OK(t, err)
		return p
	}
	plan(t, viewer, write(t, "b", "c"))
	assert.Equal(t, []int64{2, 0}, []int64{tries.Swap(0), others.Load()})

	assert.OK(t, newClient(t, service).Apply(t.Context(), planned(describedToggle), func(o ascode.Outcome) {
		assert.Equal(t, "", o.Error)
	}))
	tries.Store(0)
	assert.Equal(t, 0, len(planned(describedToggle).Steps))
	assert.Equal(t, []int64{0, 0}, []int64{tries.Load(), others.Load()})
	for _, edit := range [][2]string{
		{"type: operational", "type: release"}, {"description: first\n", ""}, {"value: one", "value: two"},
		{"kind: text, name: Checkout", "kind: text, name: Search"}, {"2999", "2998"}, {"because", "so"},
		{"{feature: parent, variants: [x]}", "{feature: parent}"}, {"dependency: {feature: parent, variants: [x]}\n", ""},
		{"type: operational", "type: operational\nimpressionData: true"}, {"default, disabled: true", "default"},
		{"[{name: default, disabled: true}]", "[]"}, {"{name: default, disabled: true}", "{name: flexibleRollout, disabled: true}"},
		{"    enabled: true", "    enabled: false"}, {"title: some", "title: other"}, {`rollout: "25"`, `rollout: "26"`},
		{"segments: [Some]", "segments: [Other]"}, {`values: [" 1 ", "2"]`, `values: ["1"]`}, {"operator: IN, values: [\" 1", "operator: NOT_IN, values: [\" 1"},
		{"weight: 100", "weight: 200"}, {"value: p", "value: q"}, {"{name: v2}, ", ""},
		{"stickiness: userId", "stickiness: sessionId"}, {"stickiness: userId", "stickiness: userId, groupId: other"},
	} {
		if p := planned(strings.Replace(describedToggle, edit[0], edit[1], 1)); len(p.Steps) != 1 {
			t.Errorf("%q instead of %q: %d steps", edit[1], edit[0], len(p.Steps))
		}
	}
	for _, edit := range [][2]string{ // what is omitted stays
		{"tags: [{type: simple, value: one}]\n", ""}, {"owner: {kind: text, name: Checkout}\n", ""},
		{"keepUntil: \"2999-01-31\"\nkeepReason: because\n", ""},
		{"  development: {enabled: false, strategies: [{name: default, disabled: true}]}\n", ""},
	} {
		tries.Store(0)
		n := len(planned(strings.Replace(describedToggle, edit[0], edit[1], 1)).Steps)
		assert.Equal(t, []int64{0, 0}, []int64{int64(n), tries.Load()})
	}
}

// A file has several toggles. A toggle is described once.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		assert.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	put("several.yml", "name: b\nproject: shop\n---\nname: a\nproject: shop\n")
	put("one.json", "{\n\t\"name\": \"c\",\n\t\"project\": \"default\"\n}\n")
	put("README.md", "no toggle")
	toggles, err := ascode.Read([]string{dir})
	assert.OK(t, err)
	var got []string
	for _, one := range toggles {
		got = append(got, one.Ref().Project+"/"+one.Ref().Name)
	}
	assert.Equal(t, []string{"default/c", "shop/a", "shop/b"}, got)

	for text, want := range map[string]string{
		"name: a\nproject: shop\n": "wrong.yaml:1: the toggle a is also in",
		"name: revive\nproject: shop\n": "wrong.yaml:1: the name of the toggle, \"revive\", is not possible: use 1 to 100 " +
			"letters, digits and . _ ~ -, but not ., .. or revive",
		"project: shop\nname: x\nenvironments: []\n": "wrong.yaml: line 3: cannot unmarshal !!seq",
		"name: [": "wrong.yaml: line 1: did not find expected node content",
	} {
		put("wrong.yaml", text)
		if _, err := ascode.Read([]string{dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	_, err = ascode.Read([]string{filepath.Join(dir, "none")})
	assert.Equal(t, true, err != nil)
}

// The schema of editors is the file of the repository, and accepts what a file can contain.
func TestSchema(t *testing.T) {
	t.Parallel()
	text, err := ascode.Schema()
	assert.OK(t, err)
	const path = "../../../docs/ascode.schema.json"
	stored, err := os.ReadFile(path)
	assert.OK(t, err)
	if string(stored) != string(text) {
		t.Errorf("%s is not what toggleadmin schema prints", path)
	}
	var all struct {
		OneOf []json.RawMessage `json:"oneOf"`
	}
	assert.OK(t, json.Unmarshal(text, &all))
	// accepted returns the titles of the schemas that accept a document.
	accepted := func(document string) (n int) {
		for _, one := range all.OneOf {
			schema, err := jsonbody.Compile(one)
			assert.OK(t, err)
			if _, err := schema.Decode([]byte(document)); err == nil {
				n++
			}
		}
		return n
	}
	const strategy = `{"name":"flexibleRollout","title":"t","parameters":{"rollout":"25"},"segments":["Beta"],` +
		`"variants":[{"name":"v","payload":{"type":"json","value":"{}"}}],` +
		`"constraints":[{"contextName":"userId","operator":"IN","values":["7"],"inverted":true}]}`
	in := func(strategy string) string {
		return `{"name":"a","project":"shop","type":"release","dependency":{"feature":"b","enabled":false},` +
			`"tags":[{"type":"simple","value":"beta"}],"environments":{"production":{"enabled":true,"strategies":[` + strategy + `]}}}`
	}
	for document, want := range map[string]int{
		in(strategy): 1,
		`{}`:         0,
		`{"name":"a","project":"shop","managedBy":"https://example.com"}`: 0,
		in(`{"name":"default","sortOrder":1}`):                            0,
		in(`{"name":"default","segments":[1]}`):                           0,
		`{"kind":"toggle","name":"a","project":"shop"}`:                   1,
		`{"kind":"segment","name":"Beta"}`:                                1,
		`{"kind":"segment","name":"Beta","id":7}`:                         0,
		`{"kind":"context-field","name":"country","stickiness":true}`:     1,
		`{"kind":"project","id":"shop","name":"Shop","linkTemplates":[]}`: 1,
		`{"kind":"project","id":"shop","name":"Shop","environments":[]}`:  0,
		`{"kind":"project","id":"shop","name":"Shop","environments":{"production":{"requiredApprovals":2}},` +
			`"groups":{"Shop":["Owner"]}}`: 1,
		`{"kind":"toggle-type","id":"release","lifetimeDays":null}`:        1,
		`{"kind":"toggle-type","id":"release"}`:                            0,
		`{"kind":"toggle-type","id":"release","lifetimeDays":3,"name":""}`: 0,
	} {
		if got := accepted(document); got != want {
			t.Errorf("%d schemas accept %s, want %d", got, document, want)
		}
	}
}
