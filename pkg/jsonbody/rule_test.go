package jsonbody_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/jsonbody"
)

func TestRulesGetTheMembersThatFitAndAreNamedBesideTheSchemas(t *testing.T) {
	t.Parallel()
	const mustBeBoolean = "The `/body/neverShow` property must be a boolean; you sent 1."
	for _, tt := range []struct {
		name, body string
		fitting    jsonbody.Object
		says, want string
	}{
		{"nothing wrong", `{"neverShow":true}`, jsonbody.Object{"neverShow": true}, "", ""},
		{"the rule alone", `{"neverShow":true}`, jsonbody.Object{"neverShow": true}, "Not today.", "Not today."},
		{"the schema alone", `{"neverShow":1,"x":"y"}`, jsonbody.Object{"x": "y"}, "", mustBeBoolean},
		{"both", `{"neverShow":1,"x":"y"}`, jsonbody.Object{"x": "y"}, "Not today.", mustBeBoolean + " Not today."},
		{"no object", `[]`, nil, "Not today.", "The `/body` must be an object; you sent []. Not today."},
		{"no JSON", ``, nil, "Not today.", "The `/body` must be a JSON object; it was empty. Not today."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := compileFile(t, feedback).Decode([]byte(tt.body), func(fitting jsonbody.Object) string {
				if diff := cmp.Diff(tt.fitting, fitting); diff != "" {
					t.Errorf("the rule gets (-want +got):\n%s", diff)
				}
				return tt.says
			})
			if tt.want == "" {
				if diff := cmp.Diff(tt.fitting, got); diff != "" || err != nil {
					t.Errorf("%v, object (-want +got):\n%s", err, diff)
				}
				return
			}
			if text := refusal(t, err); text != tt.want || got != nil {
				t.Errorf("got %q, want %q", text, tt.want)
			}
		})
	}
}
