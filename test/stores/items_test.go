package stores_test

import (
	"maps"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/dynamo"
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
			"usage":       dynamo.M(dynamo.Item{}),
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
