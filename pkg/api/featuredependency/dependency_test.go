package featuredependency_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuredependency"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
	"toggleadmin/test/helper/toggles"
)

// family is a stage with toggles, and the operations on their dependencies.
type family struct {
	toggles.Active
}

// newFamily returns a stage with toggles of the project default.
func newFamily(tb testing.TB, names ...string) family {
	tb.Helper()
	a := toggles.NewActive(tb)
	for _, name := range names {
		a.Create(tb, fmt.Sprintf(`{"name":%q}`, name))
	}
	return family{a}
}

// release returns the operation that removes a dependency, with paths such as project/child/parent.
func (f family) release() operation.Set {
	return operation.Set{Parameters: []string{"projectId", "featureName", "parent"},
		Handlers: map[string]lambdahttp.HandlerFunc{"release": featuredependency.Remove(f.Store)}}
}

// relations returns the dependencies and the children of all toggles, such as "child→parent parent←child".
func (f family) relations(tb testing.TB) string {
	tb.Helper()
	var all []string
	for _, t := range f.List(tb) {
		if t.Dependency != nil {
			all = append(all, t.Name+"→"+t.Dependency.Feature)
		}
		if len(t.Children) > 0 {
			all = append(all, t.Name+"←"+strings.Join(t.Children, ","))
		}
	}
	return strings.Join(all, " ")
}

// A toggle has at most one parent, which another one replaces. Each change is an event of the child.
func TestDependencies(t *testing.T) {
	t.Parallel()
	f := newFamily(t, "a", "b", "c", "p", "q")
	release := f.release()
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{
		{"depend", "default/a", `{"feature":"p"}`, "200"},
		{"depend", "default/a", `{"feature":"p","enabled":true,"variants":[]}`, "200"}, // as it is
		{"depend", "default/b", `{"feature":"p","enabled":false}`, "200"},
	})
	assert.Equal(t, "a→p b→p p←a,b", f.relations(t))
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{{"depend", "default/a", `{"feature":"q"}`, "200"}})
	assert.Equal(t, "a→q b→p p←b q←a", f.relations(t))
	release.Expect(t.Context(), t, "release", "default/a/p", "",
		`404 NotFoundError: The toggle "a" does not depend on the toggle "p".`)
	release.Expect(t.Context(), t, "release", "default/c/p", "",
		`404 NotFoundError: The toggle "c" does not depend on the toggle "p".`)
	release.Expect(t.Context(), t, "release", "other/a/q", "", toggles.UnknownIn("other", "a"))
	release.Expect(t.Context(), t, "release", "default/a/q", "", "200")
	assert.Equal(t, "b→p p←b", f.relations(t))
	var events []string
	for _, e := range database.About(f.Events(t), "toggle:a") {
		if strings.Contains(e, "dependency") {
			events = append(events, e)
		}
	}
	assert.Equal(t, 4, len(events))
	for i, part := range []string{
		`feature-dependency-added`, `feature-dependency-removed`, `feature-dependency-added`, `feature-dependency-removed`,
	} {
		contains(t, events[i], part)
	}
}

func contains(tb testing.TB, text, part string) {
	tb.Helper()
	if !strings.Contains(text, part) {
		tb.Errorf("%q does not contain %q", text, part)
	}
}

// A dependency needs a parent of the same project that is not archived, and no toggle has a parent and children.
func TestImpossibleDependencies(t *testing.T) {
	t.Parallel()
	f := newFamily(t, "child", "parent", "other", "gone")
	f.Create(t, `{"name":"foreign","project":"shop"}`)
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{
		{"archive", "default/gone", "", "202"},
		{"depend", "default/child", `{"feature":"parent"}`, "200"},
		{"depend", "default/x", `{"feature":"parent"}`, toggles.UnknownIn("default", "x")},
		{"depend", "default/other", `{"feature":"x"}`, toggles.UnknownIn("default", "x")},
		{"depend", "default/other", `{"feature":"foreign"}`, toggles.UnknownIn("default", "foreign")},
		{
			"depend", "default/other", `{"feature":"other"}`,
			"400 ValidationError: The `/body/feature` property must not be the name of the toggle itself; you sent \"other\".",
		},
		{
			"depend", "default/other", `{"feature":"gone"}`,
			`409 ConflictError: The toggle "gone" is archived. No toggle can depend on it.`,
		},
		{
			"depend", "default/other", `{"feature":"child"}`,
			`409 ConflictError: The toggle "child" depends on the toggle "parent". No toggle can depend on it.`,
		},
		{
			"depend", "default/parent", `{"feature":"other"}`,
			`409 ConflictError: Other toggles depend on the toggle "parent": "child". It cannot depend on a toggle.`,
		},
		{
			"depend", "default/other", `{"feature":"parent","enabled":false,"variants":["v"]}`,
			"400 ValidationError: The `/body/variants` property must be empty if `enabled` is false: a toggle that is off has no variant.",
		},
	})
	assert.Equal(t, "child→parent parent←child", f.relations(t))
}

// A toggle on which others depend is neither archived, deleted nor moved, also if they are archived. A child that is
// deleted releases its parent.
func TestParentsAreHeld(t *testing.T) {
	t.Parallel()
	f := newFamily(t, "child", "parent", "other")
	const archive = `409 ConflictError: The toggle "parent" cannot be archived, because other toggles depend on it: "child". ` +
		"Remove their dependencies first."
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{
		{"depend", "default/child", `{"feature":"parent"}`, "200"},
		{"archive", "default/parent", "", archive},
		{"archive", "default/child", "", "202"},
		{"archive", "default/parent", "", archive},
	})
	conflict := func(err error, want string) {
		t.Helper()
		contains(t, fmt.Sprint(err), want)
	}
	_, err := f.Store.UpdateAll(t.Context(), []string{"other", "parent"}, toggles.With(`{"archived":true}`))
	conflict(err, `"parent" cannot be archived`)
	_, err = f.Store.Update(t.Context(), "parent", toggles.With(`{"project":"shop"}`))
	conflict(err, `"parent" cannot be moved to another project`)
	_, err = f.Store.Update(t.Context(), "child", toggles.With(`{"project":"shop"}`))
	conflict(err, `The toggle "child" depends on the toggle "parent" of the project "default".`)
	conflict(f.Store.Delete(t.Context(), "parent", nil), `"parent" cannot be deleted`)
	assert.Equal(t, "child→parent parent←child", f.relations(t))
	assert.OK(t, f.Store.Delete(t.Context(), "child", nil))
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{{"archive", "default/parent", "", "202"}})
	assert.Equal(t, "", f.relations(t))
}

// The variants of a dependency are those of the strategies of the parent.
func TestVariantsOfDependencies(t *testing.T) {
	t.Parallel()
	f := newFamily(t, "child", "parent")
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{{
		"depend", "default/child", `{"feature":"parent","variants":["blue"]}`,
		"400 ValidationError: The `/body/variants/0` property must be the name of a variant of the toggle \"parent\"; " +
			`you sent "blue".`,
	}})
	f.ExpectStatus(t.Context(), t, "add strategy", "default/parent/prod", `{"name":"flexibleRollout","variants":[`+
		`{"name":"blue","weight":1000,"weightType":"variable"}]}`, 200)
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{
		{"depend", "default/child", `{"feature":"parent","variants":["blue","blue"]}`, "200"},
		{"delete strategy", "default/parent/prod/s1", "", "200"}, // a dependency does not hold variants
	})
	assert.Equal(t, &toggle.Dependency{Feature: "parent", Enabled: true, Variants: []string{"blue"}},
		f.Toggle(t, "child").Dependency)
}

// A write of a parent or a child that another request makes at the same time is taken into account.
func TestConcurrentDependencies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ meanwhile, relations, message string }{
		{"archive p", "", "is archived"},
		{"p depends on q", "p→q q←p", `The toggle "p" depends on the toggle "q"`},
		{"b depends on a", "a←b b→a", `Other toggles depend on the toggle "a": "b"`},
		{"b depends on p", "a→p b→p p←a,b", ""},
		{"a depends on q", "a→p p←a", ""},
		{"p is marked as stale", "a→p p←a", ""},
	} {
		f := newFamily(t, "a", "b", "p", "q")
		depends := func(store *feature.Store, child, parent string) error {
			_, err := store.Update(context.WithoutCancel(t.Context()), child,
				toggles.With(fmt.Sprintf(`{"dependency":{"feature":%q}}`, parent)))
			return err
		}
		store := f.StoreOn(f.Before(t, "TransactWriteItems", 1, func() {
			switch words := strings.Fields(test.meanwhile); {
			case slices.Contains(words, "depends"):
				assert.OK(t, depends(f.Store, words[0], words[len(words)-1]))
			case words[0] == "archive":
				f.Update(t, "p", `{"archived":true}`)
			default:
				f.Update(t, "p", `{"stale":true}`)
			}
		}))
		err := depends(store, "a", "p")
		if test.message == "" {
			assert.OK(t, err)
		} else {
			contains(t, fmt.Sprint(err), test.message)
		}
		assert.Equal(t, test.relations, f.relations(t))
	}
}

// Children that a restored table has are compared with the dependencies, and repaired.
func TestCheckDependencies(t *testing.T) {
	t.Parallel()
	f := newFamily(t, "a", "b", "p", "q")
	toggles.Expect(t.Context(), t, f.Set, []toggles.Call{
		{"depend", "default/a", `{"feature":"p"}`, "200"},
		{"depend", "default/b", `{"feature":"q"}`, "200"},
	})
	broken := f.Toggle(t, "p")
	broken.Children = []string{"b", "x"}
	f.Put(t, f.Tables[featuretable.Table], featuretable.Marshal(broken))
	f.Delete(t, f.Tables[featuretable.Table], featuretable.Key("q"))
	_, found, err := f.Store.CheckDependencies(t.Context())
	assert.OK(t, err)
	var texts []string
	for _, i := range found {
		texts = append(texts, i.Text)
		assert.OK(t, i.Repair(t.Context()))
	}
	assert.Equal(t, []string{
		`the toggle "b" depends on the toggle "q", which does not exist`,
		`the toggle "p" has other children than the 1 toggles that depend on it`,
	}, texts)
	assert.Equal(t, "a→p p←a", f.relations(t))
	summary, found, err := f.Store.CheckDependencies(t.Context())
	assert.OK(t, err)
	assert.Equal(t, 0, len(found))
	assert.Equal(t, "1, consistent with the children of toggles", summary)
	if now := f.Toggle(t, "p"); now.LastEvent <= broken.LastEvent {
		t.Error("the repair does not change the version of the toggle")
	}
}
