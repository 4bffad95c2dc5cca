package stores_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/feedback"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// TestItems looks at the items as others may read them: names and types of attributes, times to the millisecond, what is null is absent.
func TestItems(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	g := db.ground(t)
	fine, _ := instant()
	const stored = "2026-11-20T05:39:00.123Z"
	ctx := t.Context()
	check(t, g.FeatureTypes.Create(ctx, featuretype.FeatureType{ID: "release", Name: "n", Description: "d", LifetimeDays: new(int64(40)), Position: 2}))
	check(t, g.FeatureTypes.Create(ctx, featuretype.FeatureType{ID: "bare"}))
	check(t, g.ContextFields.Create(ctx, contextfield.ContextField{
		Name: "full", Description: "d", Stickiness: true, SortOrder: 1, CreatedAt: &fine,
		LegalValues: []contextfield.LegalValue{{Value: "v", Description: "w"}, {Value: "x"}},
	}))
	check(t, g.ContextFields.Create(ctx, contextfield.ContextField{Name: "bare"}))
	_, err := g.Feedback.Update(ctx, "full", 1, feedback.Change{SetGiven: true, Given: &fine})
	check(t, err)
	_, err = g.Feedback.Update(ctx, "bare", 1, feedback.Change{SetGiven: true})
	check(t, err)
	check(t, g.Users.Create(ctx, user.User{ID: 1, Kind: user.ServiceAccount, Name: "n", Role: "Editor"}))
	check(t, g.Users.Create(ctx, user.User{ID: 2, Kind: user.Person, Name: "n", Role: "Admin", Email: "e", Disabled: true}))
	_, token, err := g.PATs.Create(ctx, pat.PAT{UserID: 1, Description: "d", ExpiresAt: fine, CreatedAt: fine}, owner(1))
	check(t, err)
	verifier := token.Verifier()
	check(t, g.Features.Create(ctx, feature.Feature{Name: "f", Project: "p", Type: "t", CreatedAt: fine, ContextFields: []string{"full"}}))

	list := func(v ...types.AttributeValue) types.AttributeValue { return &types.AttributeValueMemberL{Value: v} }
	for _, tt := range []struct {
		table string
		key   dynamo.Item
		want  dynamo.Item // beside the key
	}{
		{"FeatureTypes", dynamo.Item{"id": dynamo.S("release")}, dynamo.Item{
			"name": dynamo.S("n"), "description": dynamo.S("d"), "lifetimeDays": dynamo.N(40), "position": dynamo.N(2),
		}},
		{"FeatureTypes", dynamo.Item{"id": dynamo.S("bare")}, dynamo.Item{"name": dynamo.S(""), "description": dynamo.S(""), "position": dynamo.N(0)}},
		{"ContextFields", dynamo.Item{"name": dynamo.S("full")}, dynamo.Item{
			"description": dynamo.S("d"), "stickiness": dynamo.Bool(true), "sortOrder": dynamo.N(1), "createdAt": dynamo.S(stored),
			"legalValues": list(dynamo.M(dynamo.Item{"value": dynamo.S("v"), "description": dynamo.S("w")}), dynamo.M(dynamo.Item{"value": dynamo.S("x")})),
			"usage":       dynamo.M(dynamo.Item{"p": dynamo.N(1)}),
		}},
		{"ContextFields", dynamo.Item{"name": dynamo.S("bare")}, dynamo.Item{
			"stickiness": dynamo.Bool(false), "sortOrder": dynamo.N(0), "usage": dynamo.M(dynamo.Item{}),
		}},
		{"Feedback", dynamo.Item{"userId": dynamo.N(1), "feedbackId": dynamo.S("full")}, dynamo.Item{
			"neverShow": dynamo.Bool(false), "given": dynamo.S(stored),
		}},
		{"Feedback", dynamo.Item{"userId": dynamo.N(1), "feedbackId": dynamo.S("bare")}, dynamo.Item{"neverShow": dynamo.Bool(false)}},
		{"Users", user.Key(1), dynamo.Item{
			"kind": dynamo.S("service-account"), "name": dynamo.S("n"), "rootRole": dynamo.S("Editor"), "disabled": dynamo.Bool(false),
			"pats": dynamo.M(dynamo.Item{pat.DescriptionKey("d"): dynamo.N(1)}),
		}},
		{"Users", user.Key(2), dynamo.Item{
			"kind": dynamo.S("user"), "name": dynamo.S("n"), "rootRole": dynamo.S("Admin"), "email": dynamo.S("e"), "disabled": dynamo.Bool(true),
			"pats": dynamo.M(dynamo.Item{}),
		}},
		{"PersonalAccessTokens", pat.Key(1, 1), dynamo.Item{
			"verifier": dynamo.B(verifier[:]), "description": dynamo.S("d"), "expiresAt": dynamo.S(stored), "createdAt": dynamo.S(stored),
		}},
		{"PersonalAccessTokens", pat.Key(0, 0), dynamo.Item{"lastId": dynamo.N(1)}},
		{"Features", dynamo.Item{"name": dynamo.S("f")}, dynamo.Item{
			"project": dynamo.S("p"), "type": dynamo.S("t"), "createdAt": dynamo.S(stored), "archived": dynamo.Bool(false), "stale": dynamo.Bool(false),
			"potentiallyStale": dynamo.Bool(false), "contextFields": list(dynamo.S("full")), "staleness": dynamo.S("t#fresh#9"),
		}},
	} {
		maps.Copy(tt.want, tt.key)
		options := cmp.Options{cmpopts.IgnoreUnexported(
			types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{}, types.AttributeValueMemberBOOL{},
			types.AttributeValueMemberL{}, types.AttributeValueMemberM{}), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(tt.want, db.get(t, tt.table, tt.key), options); diff != "" {
			t.Errorf("%s %v: %s", tt.table, tt.key, diff)
		}
	}
}

// TestStalenessIndex walks a toggle through its states: it stands in the index at one key, or nowhere.
func TestStalenessIndex(t *testing.T) {
	t.Parallel()
	shard := feature.Shard("f")
	at := func(typ string, flagged bool) string { return feature.StalenessKey(typ, flagged, shard) }
	for _, tt := range []struct {
		name   string
		before func(*feature.Feature)
		flag   bool
		change func(*feature.Feature) // nil: as created
		want   string                 // empty: nowhere
	}{
		{"created fresh", nil, false, nil, at("release", false)},
		{"created archived", func(f *feature.Feature) { f.Archived = true }, false, nil, ""},
		{"created stale", func(f *feature.Feature) { f.Stale = true }, false, nil, ""},
		{"created flagged is fresh", func(f *feature.Feature) { f.PotentiallyStale = true }, false, nil, at("release", false)},
		{"archived", nil, true, func(f *feature.Feature) { f.Archived = true }, ""},
		{"marked stale", nil, true, func(f *feature.Feature) { f.Stale = true }, ""},
		{"restored", func(f *feature.Feature) { f.Archived = true }, false, func(f *feature.Feature) { f.Archived = false }, at("release", false)},
		{"un-marked", func(f *feature.Feature) { f.Stale = true }, false, func(f *feature.Feature) { f.Stale = false }, at("release", false)},
		{"restored but stale", func(f *feature.Feature) { f.Archived, f.Stale = true, true }, false, func(f *feature.Feature) { f.Archived = false }, ""},
		{"restored and un-marked", func(f *feature.Feature) { f.Archived, f.Stale = true, true }, false, func(f *feature.Feature) { f.Archived, f.Stale = false, false }, at("release", false)},
		{"of another type", nil, false, func(f *feature.Feature) { f.Type = "operational" }, at("operational", false)},
		{"flagged, then of another type", nil, true, func(f *feature.Feature) { f.Type = "operational" }, at("operational", false)},
		{"another type while archived", func(f *feature.Feature) { f.Archived = true }, false, func(f *feature.Feature) { f.Type = "operational" }, ""},
		{"moved", nil, false, func(f *feature.Feature) { f.Project = "other" }, at("release", false)},
		{"flagged, then moved", nil, true, func(f *feature.Feature) { f.Project = "other" }, at("release", true)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := newDatabase(t)
			g := db.ground(t)
			f := toggle("f")
			if tt.before != nil {
				tt.before(&f)
			}
			check(t, g.Features.Create(t.Context(), f))
			if tt.flag {
				db.flag(t, f)
			}
			if tt.change != nil {
				update(t, g, tt.change)
			}
			if got := db.get(t, "Features", dynamo.Item{"name": dynamo.S("f")}).String("staleness"); got != tt.want {
				t.Errorf("the key is %q, want %q", got, tt.want)
			}
			for _, typ := range []string{"release", "operational"} {
				for _, flagged := range []bool{false, true} {
					key := at(typ, flagged)
					want := []string(nil)
					if key == tt.want {
						want = []string{"f"}
					}
					if diff := cmp.Diff(want, db.indexed(t, key)); diff != "" {
						t.Errorf("at %s: %s", key, diff)
					}
				}
			}
		})
	}
}

// TestShards holds the places of toggles, worked out apart from the code: an index that exists depends on them.
func TestShards(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"": 5, "a": 12, "f": 9, "toggle": 5, "\U0001F600": 8} {
		if got := feature.Shard(name); got != want {
			t.Errorf("%q is in shard %d, want %d", name, got, want)
		}
	}
	used := map[int]bool{}
	for i := range 200 {
		used[feature.Shard(fmt.Sprint("toggle-", i))] = true
	}
	if len(used) != feature.Shards {
		t.Errorf("200 toggles are spread over %d shards", len(used))
	}
}
