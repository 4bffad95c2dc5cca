// Package toggles provides tables with context fields, types and environments, in which tests write toggles, and the
// operations on them.
package toggles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuredependency"
	"toggleadmin/pkg/api/featuresearch"
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

// Created is when the toggles of a test were created.
func Created() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC) }

// Now is 40 days after created, to the millisecond.
func Now() time.Time { return Created().AddDate(0, 0, 40) }

// With returns the change of the members of toggle.Feature in a JSON text.
func With(members string) func(toggle.Feature) (toggle.Feature, error) {
	return func(old toggle.Feature) (f toggle.Feature, err error) {
		text, err := json.Marshal(old)
		err = errors.Join(err, json.Unmarshal(text, &f), json.Unmarshal([]byte(members), &f))
		return f, err
	}
}

// New returns the toggle f of the type release, with other members in a JSON text.
func New(tb testing.TB, members string) toggle.Feature {
	tb.Helper()
	f, err := With(members)(toggle.Feature{Name: "f", Project: "default", Type: "release", CreatedAt: Created()})
	assert.OK(tb, err)
	return f
}

// Fixture has the tables of a test, with the context fields a, b and c, and the types short, long, endless and release,
// whose lifetime ends now.
type Fixture struct {
	*database.Database
	Store *feature.Store
	Flags *stalenessindex.Flags
}

// NewFixture returns the tables without toggles, with some projects.
func NewFixture(tb testing.TB) Fixture {
	tb.Helper()
	db := Fixture{Database: database.New(tb)}
	for _, id := range []string{"p", "q", "shop", "other.#$ project"} {
		db.PutProjects(tb, access.NewProject(id, id))
	}
	for _, name := range []string{"a", "b", "c"} {
		_, err := contextfield.NewStore(db.Client, db.Tables, db.Log()).Create(tb.Context(),
			contextfield.ContextField{Name: name})
		assert.OK(tb, err)
	}
	for id, days := range map[string]*int64{"release": new(int64(40)), "short": new(int64(7)), "long": new(int64(41)),
		"endless": nil} {
		assert.OK(tb, db.Types().Create(tb.Context(), toggle.Type{ID: id, LifetimeDays: days}))
	}
	db.Store = db.StoreOn(db.Client)
	db.Flags = stalenessindex.NewFlags(db.Client, db.Tables, eventlog.New(db.Client, db.Tables, Now, 0))
	return db
}

// Types returns the store of types.
func (db Fixture) Types() *featuretype.Store {
	return featuretype.NewStore(db.Client, db.Tables, db.Log())
}

// StoreOn returns a store that uses another client.
func (db Fixture) StoreOn(client *dynamodb.Client) *feature.Store {
	return feature.NewStore(client, db.Tables, eventlog.New(client, db.Tables, Now, 0))
}

// Create creates toggles with members in JSON texts.
func (db Fixture) Create(tb testing.TB, all ...string) {
	tb.Helper()
	for _, members := range all {
		_, err := db.Store.Create(tb.Context(), New(tb, members))
		assert.OK(tb, err)
	}
}

// Update changes the members of a toggle in a JSON text.
func (db Fixture) Update(tb testing.TB, name, members string) {
	tb.Helper()
	_, err := db.Store.Update(tb.Context(), name, With(members))
	assert.OK(tb, err)
}

// Toggle reads a toggle.
func (db Fixture) Toggle(tb testing.TB, name string) toggle.Feature {
	tb.Helper()
	f, err := db.Store.Get(tb.Context(), name)
	assert.OK(tb, err)
	return f
}

// List reads all toggles.
func (db Fixture) List(tb testing.TB) []toggle.Feature {
	tb.Helper()
	all, err := db.Store.List(tb.Context())
	assert.OK(tb, err)
	return all
}

// StalenessKey reads the key of a toggle in the staleness index.
func (db Fixture) StalenessKey(tb testing.TB, name string) string {
	tb.Helper()
	return db.Get(tb, db.Tables["Features"], dynamo.Item{"name": dynamo.S(name)}).String("staleness")
}

// References returns the number of toggles by context field and project.
func (db Fixture) References(tb testing.TB) string {
	tb.Helper()
	var all []string
	for _, item := range db.Scan(tb, db.Tables["ContextFields"]) {
		field, _ := contextfield.ReferencesStore(db.Client, db.Tables).ResourceOf(item)
		used, _ := references.FromItem(item)
		for project, n := range used.ByProject {
			all = append(all, fmt.Sprintf("%s/%s: %d", field, project, n))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// Handlers returns the operations on a store.
func Handlers(store *feature.Store) operation.Set {
	return operation.Set{Parameters: []string{"projectId", "featureName"}, Handlers: map[string]lambdahttp.HandlerFunc{
		"create":  feature.Create(store, feature.DefaultLimit, Now, func() string { return "link" }),
		"update":  feature.Update(store),
		"stale":   feature.MarkStale(store),
		"get":     feature.Get(store.Reader),
		"list":    feature.List(store.Reader),
		"archive": feature.Archive(store),
		"revive":  feature.Revive(store),
		"remove":  feature.Delete(store),
	}}
}

// Call is a call of an operation: the name of the operation, the path project/name, the body, and the wanted status and
// whole response, or the name and the message of the error.
type Call [4]string

// Expect makes calls one after the other.
func Expect(ctx context.Context, t *testing.T, h operation.Set, calls []Call) {
	t.Helper()
	for _, c := range calls {
		h.Expect(ctx, t, c[0], c[1], c[2], c[3])
	}
}

// Unknown is the response of an operation on a toggle that does not exist.
func Unknown(name string) string {
	return fmt.Sprintf("404 NotFoundError: There is no toggle with the name %q.", name)
}

// UnknownIn is the response of an operation on a toggle that the project does not have.
func UnknownIn(project, name string) string {
	return fmt.Sprintf("404 NotFoundError: There is no toggle with the name %q in the project %q.", name, project)
}

// The responses to requests whose preconditions fail.
const (
	Changed     = "412 PreconditionFailed: The resource has changed since you read it. Read it again and repeat the change."
	Exists      = "412 PreconditionFailed: The resource exists and matches `If-None-Match`."
	NoEntityTag = "412 PreconditionFailed: The resource has no entity tag, so only `*` matches it in `If-Match`."
)

// Active is a stage with the environments dev and prod, and the operations on the state of toggles in them.
type Active struct {
	Fixture
	operation.Set
}

// NewActive returns the stage without toggles.
func NewActive(tb testing.TB) Active {
	tb.Helper()
	db := NewFixture(tb)
	for _, name := range []string{"dev", "prod"} {
		_, err := environment.NewStore(db.Client, db.Tables, db.Log()).Create(tb.Context(),
			environment.Environment{Name: name, Type: name + "elopment", Last: true})
		assert.OK(tb, err)
	}
	set := Activation(db.Store)
	maps.Copy(set.Handlers, db.Searches(db.Client).Handlers)
	return Active{db, set}
}

// Activation returns the operations on the state of toggles, with paths such as project/toggle/environment/strategy.
func Activation(store *feature.Store) operation.Set {
	created := 0
	newID := func() string {
		created++
		return fmt.Sprint("s", created)
	}
	set := Handlers(store)
	set.Parameters = []string{"projectId", "featureName", "environment", "strategyId"}
	maps.Copy(set.Handlers, map[string]lambdahttp.HandlerFunc{
		"on":              featureswitch.TurnOn(store, newID),
		"off":             featureswitch.TurnOff(store),
		"state":           featureswitch.Get(store.Reader),
		"strategies":      featurestrategy.List(store.Reader),
		"strategy":        featurestrategy.Get(store.Reader),
		"add strategy":    featurestrategy.Create(store, newID),
		"update strategy": featurestrategy.Update(store),
		"delete strategy": featurestrategy.Delete(store),
		"depend":          featuredependency.Add(store),
		"order":           featurestrategy.SetOrder(store),
		"all on":          featureswitch.TurnOnAll(store, newID),
		"all off":         featureswitch.TurnOffAll(store),
	})
	return set
}

// CreateSegments creates segments without constraints. Their ids rise from 1.
func (a Active) CreateSegments(tb testing.TB, names ...string) {
	tb.Helper()
	for _, name := range names {
		_, err := segment.NewStore(a.Client, a.Tables, a.Log()).Create(tb.Context(),
			segment.Segment{Segment: segmenttable.Segment{Segment: toggle.Segment{Name: name}}})
		assert.OK(tb, err)
	}
}

// Recorded returns the types and the environments of the events of the toggle f, without its creation and
// without the flips of its flag.
func (a Active) Recorded(tb testing.TB) string {
	tb.Helper()
	return a.RecordedOf(tb, "f")
}

// RecordedOf is recorded for another toggle.
func (a Active) RecordedOf(tb testing.TB, name string) string {
	tb.Helper()
	var all []string
	about := eventlog.Filter{Subjects: []string{"toggle:" + name}}
	err := eventlog.NewReader(a.Log()).All(tb.Context(), about, func(e eventlog.Event) error {
		switch e.Type {
		case eventlog.FeatureCreated, eventlog.FeaturePotentiallyStaleOn, eventlog.FeaturePotentiallyStaleOff:
		default:
			all = append(all, strings.TrimSpace(fmt.Sprint(e.Type, " ", e.Environment)))
		}
		return nil
	})
	assert.OK(tb, err)
	return strings.Join(all, ", ")
}

// Everybody is the strategy that turning a toggle on adds.
func Everybody(id string, order int, disabled bool) string {
	return fmt.Sprintf(`{"id":%q,"name":"flexibleRollout","title":null,"disabled":%t,"sortOrder":%d,"constraints":[],`+
		`"parameters":{"groupId":"f","rollout":"100","stickiness":"default"},"variants":[],"segments":[]}`,
		id, disabled, order)
}

// Searches returns the operations that search and count toggles.
func Searches(client *dynamodb.Client, tables dynamo.Tables) operation.Set {
	searcher := featuresearch.NewSearcher(client, tables, Now)
	return operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{
		"search": featuresearch.Search(feature.NewReader(client, tables, Now), searcher),
		"count":  featuresearch.Count(feature.NewReader(client, tables, Now), searcher),
	}}
}

// Searches returns the operations that search and count the toggles of the fixture through a client.
func (db Fixture) Searches(client *dynamodb.Client) operation.Set { return Searches(client, db.Tables) }

// See stores when applications first and last used a toggle, by environment.
func (db Fixture) See(tb testing.TB, name string, at map[string]time.Time) {
	tb.Helper()
	table := db.Tables[featuretable.Table]
	item := db.Get(tb, table, featuretable.Key(name))
	item[featuretable.AttributeFirstSeen] = dynamo.S(featuretable.EncodeTimes(at))
	item[featuretable.AttributeLastSeen] = item[featuretable.AttributeFirstSeen]
	db.Put(tb, table, item)
}

// Same fails the test unless got is equal to want, except for the last event and the time of the mark as stale.
func Same(tb testing.TB, want, got any) {
	tb.Helper()
	assert.Equal(tb, want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(toggle.Feature{}, "LastEvent", "StaleSince"))
}

// RangeOf returns a range that contains the toggle.
func RangeOf(f toggle.Feature, potentiallyStale bool) stalenessindex.Range {
	r := stalenessindex.Range{Type: f.Type, Shard: featuretable.Shard(f.Name), PotentiallyStale: potentiallyStale}
	if !potentiallyStale {
		r.Cutoff = &f.CreatedAt
	}
	return r
}

// Flip flips a toggle, even if f is what an index that is behind shows.
func (db Fixture) Flip(tb testing.TB, r stalenessindex.Range, f toggle.Feature, want bool) {
	tb.Helper()
	flipped := false
	for again := []toggle.Feature{f}; len(again) > 0; {
		flips, err := db.Flags.Flip(tb.Context(), r, again)
		assert.OK(tb, err)
		flipped, again = flips.Done == 1, flips.Again
	}
	assert.Equal(tb, want, flipped)
}
