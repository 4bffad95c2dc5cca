package grants_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local"
	"toggleadmin/pkg/local/localtest"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/grants"
	"toggleadmin/test/meter"
	"toggleadmin/test/script"
)

// settings are those of a deployment; which one does not matter here.
func settings() samtemplate.Settings {
	return samtemplate.Settings{Region: "us-east-1", AccountID: "123456789012", StackName: "local"}
}

func load(t *testing.T) *samtemplate.Template {
	t.Helper()
	template, err := samtemplate.Load(localtest.Template(t), settings())
	if err != nil {
		t.Fatal(err)
	}
	return template
}

// TestPoliciesGrantExactlyWhatTheScriptsUse runs the end-to-end scripts and compares.
func TestPoliciesGrantExactlyWhatTheScriptsUse(t *testing.T) { //nolint:tparallel // the comparison waits for the scripts
	t.Parallel()
	var recorder grants.Recorder
	service := localtest.Start(t, local.Config{APIOptions: meter.Options(recorder.Record)})
	file := filepath.Join(t.TempDir(), "local.json")
	content, err := json.Marshal(service)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	credentials, err := script.ReadCredentials(file)
	if err != nil {
		t.Fatal(err)
	}
	if !t.Run("Scripts", func(t *testing.T) {
		script.Run(t, script.Ground{Name: script.Local, BaseURL: service.BaseURL, Credentials: credentials, Now: time.Now},
			filepath.Join(filepath.Dir(localtest.Template(t)), "test", "e2e", "testdata"))
	}) {
		t.Fatal("the scripts failed: what they use is not known")
	}
	uses := awaitUses(t, &recorder)
	for _, complaint := range grants.Compare(load(t), uses) {
		t.Error(complaint)
	}
	// The comparison would notice: of this very run, each use without its grant, and each grant without its use.
	for i, use := range uses {
		got := grants.Compare(load(t), slices.Delete(slices.Clone(uses), i, i+1))
		place := "table " + use.Table
		if use.Index != "" {
			place = "index " + use.Index + " of " + place
		}
		want := []string{"function " + use.Function + " is granted " + use.Action + " on " + place + ": it was never used"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// awaitUses gives the uses once nothing is to complain about, or patience has ended: what is called beside the API works behind the requests,
// record-traffic a second or more.
func awaitUses(t *testing.T, recorder *grants.Recorder) []grants.Use {
	t.Helper()
	const patience = 15 * time.Second
	template := load(t)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		uses := recorder.Uses()
		if len(grants.Compare(template, uses)) == 0 || time.Now().After(end) {
			return uses
		}
	}
}

// TestChangedPoliciesAreNoticed changes the template's text and compares it with what its own policies grant.
func TestChangedPoliciesAreNoticed(t *testing.T) {
	t.Parallel()
	const seenAt = "              - {Effect: Allow, Action: [dynamodb:UpdateItem], Resource: [!GetAtt PersonalAccessTokens.Arn]}\n"
	const list = "{Effect: Allow, Action: [dynamodb:Scan], Resource: [!GetAtt FeatureTypes.Arn]}"
	for _, tt := range []struct {
		name, old, new string
		want           []string
	}{
		{"nothing", "", "", nil},
		{"a statement removed", seenAt, "", []string{
			"function authorizer uses dynamodb:UpdateItem on table PersonalAccessTokens: no statement of its policy grants it",
		}},
		{"an action added", "[dynamodb:GetItem, dynamodb:DeleteItem]", "[dynamodb:GetItem, dynamodb:DeleteItem, dynamodb:PutItem]", []string{
			"function delete-own-token is granted dynamodb:PutItem on table PersonalAccessTokens: it was never used",
		}},
		{"a table added", list, strings.Replace(list, "!GetAtt FeatureTypes.Arn", "!GetAtt FeatureTypes.Arn, !GetAtt Users.Arn", 1), []string{
			"function list-feature-types is granted dynamodb:Scan on table Users: it was never used",
		}},
		{"an index added", list, strings.Replace(list, "!GetAtt FeatureTypes.Arn", "!GetAtt FeatureTypes.Arn, !Sub '${Users.Arn}/index/email'", 1), []string{
			"function list-feature-types is granted dynamodb:Scan on index email of table Users: it was never used",
		}},
		{"an index that is none", list, strings.Replace(list, "!GetAtt FeatureTypes.Arn", "!GetAtt FeatureTypes.Arn, !Sub '${Users.Arn}/index/name'", 1), []string{
			"function list-feature-types is granted dynamodb:Scan on arn:aws:dynamodb:us-east-1:123456789012:table/Users/index/name: " +
				"the table has no such index",
		}},
		{"another action", list, strings.Replace(list, "Scan", "Query", 1), []string{
			"function list-feature-types uses dynamodb:Scan on table FeatureTypes: no statement of its policy grants it",
			"function list-feature-types is granted dynamodb:Query on table FeatureTypes: it was never used",
		}},
		{"all actions", list, strings.Replace(list, "dynamodb:Scan", "'dynamodb:*'", 1), []string{
			"function list-feature-types is granted dynamodb:* on arn:aws:dynamodb:us-east-1:123456789012:table/FeatureTypes: " +
				"a wildcard grants more than one action on one table",
			"function list-feature-types uses dynamodb:Scan on table FeatureTypes: no statement of its policy grants it",
		}},
		{"a statement twice", seenAt, seenAt + seenAt, []string{
			"function authorizer is granted dynamodb:UpdateItem on table PersonalAccessTokens twice",
		}},
		{"a refusal", list, strings.Replace(list, "Allow", "Deny", 1), []string{
			`function list-feature-types: the effect "Deny" of dynamodb:Scan on arn:aws:dynamodb:us-east-1:123456789012:table/FeatureTypes is not known here`,
			"function list-feature-types uses dynamodb:Scan on table FeatureTypes: no statement of its policy grants it",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(localtest.Template(t))
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Replace(string(content), tt.old, tt.new, 1)
			if tt.old != "" && text == string(content) {
				t.Fatalf("the template has no %q", tt.old)
			}
			changed, err := samtemplate.Parse("template.yaml", []byte(text), settings())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, grants.Compare(changed, granted(load(t)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// granted is what a template's policies grant, as uses.
func granted(t *samtemplate.Template) []grants.Use {
	var uses []grants.Use
	for _, f := range t.Functions {
		for _, s := range f.Policies {
			for _, action := range s.Actions {
				for _, resource := range s.Resources {
					_, table, ok := strings.Cut(resource, ":table/")
					if !ok || strings.Contains(table, "/stream/") {
						continue
					}
					table, index, _ := strings.Cut(table, "/index/")
					uses = append(uses, grants.Use{Function: f.Name, Action: action, Table: table, Index: index})
				}
			}
		}
	}
	return uses
}

func TestAnIndexIsAResourceOfItsOwn(t *testing.T) {
	t.Parallel()
	uses := append(granted(load(t)), grants.Use{Function: "authorizer", Action: "dynamodb:Query", Table: "Users", Index: "email"})
	want := []string{"function authorizer uses dynamodb:Query on index email of table Users: no statement of its policy grants it"}
	if diff := cmp.Diff(want, grants.Compare(load(t), uses)); diff != "" {
		t.Error(diff)
	}
}
