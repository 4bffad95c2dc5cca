package constraint_test

import (
	"strings"
	"testing"

	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/operation"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	fields := contextfield.NewStore(db.Client, db.Tables, db.Log())
	for _, f := range []contextfield.ContextField{
		{Name: "plan", LegalValues: []contextfield.LegalValue{{Value: "basic"}, {Value: "pro"}}},
		{Name: "country"},
	} {
		_, err := fields.Create(t.Context(), f)
		assert.OK(t, err)
	}
	h := operation.Set{Handlers: map[string]lambdahttp.HandlerFunc{"validate": constraint.Validate(fields)}}
	long := strings.Repeat("é", 101)
	for _, row := range []struct{ body, want string }{
		// Valid constraints
		{`"userId","operator":"IN","values":["7","8"],"inverted":true`, ""},
		{`"country","operator":"STR_STARTS_WITH","values":[" N "],"caseInsensitive":true`, ""},
		{`"plan","operator":"NOT_IN","values":["basic","pro"]`, ""},
		{`"plan","operator":"STR_CONTAINS","values":["other"]`, ""}, // legal values bind IN and NOT_IN
		{`"country","operator":"NUM_GTE","value":" -1.5e3 ","values":[]`, ""},
		{`"currentTime","operator":"DATE_AFTER","value":"2026-11-20T05:39:00Z"`, ""},
		{`"appName","operator":"SEMVER_LT","value":"1.2.3-beta"`, ""},
		{`"country","operator":"REGEX","value":" ^N"`, ""},
		{`"remoteAddress","operator":"IN_CIDR","values":["10.0.0.0/8"]`, ""},

		// Fields and legal values
		{`"none","operator":"IN","values":["7"]`,
			"The ~/body/contextName~ property must be the name of a context field; you sent \"none\"."},
		{`"plan","operator":"IN","values":["basic","free"]`,
			"The ~/body/values/1~ property must be a legal value of the context field \"plan\"; you sent \"free\"."},

		// Values
		{`"country","operator":"IN"`, "The ~/body/values~ property must have 1 or more elements with the operator IN."},
		{`"country","operator":"IN","values":["NO"," "]`, "The ~/body/values/1~ property must have 1 or more characters; you sent \"\"."},
		{`"country","operator":"IN","values":["` + long + `"]`,
			"The ~/body/values/0~ property must have at most 100 characters; you sent \"" + long[:200] + "…\"."},
		{`"country","operator":"IN","value":"NO"`, "The ~/body/value~ property must not be sent with the operator IN, which takes ~values~. " +
			"The ~/body/values~ property must have 1 or more elements with the operator IN."},
		{`"country","operator":"NUM_EQ","values":["1"],"value":"1"`,
			"The ~/body/values~ property must not be sent with the operator NUM_EQ, which takes ~value~."},
		{`"country","operator":"NUM_EQ"`,
			"The ~/body/value~ property is required with the operator NUM_EQ; you did not send it."},
		{`"country","operator":"NUM_EQ","value":" "`,
			"The ~/body/value~ property must have 1 or more characters; you sent \"\"."},
		{`"country","operator":"REGEX","value":"a","inverted":true`,
			"The ~/body/inverted~ property must be false with the operator REGEX."},

		// Properties
		{`"country","operator":"SAME","values":["1"]`, "The ~/body/operator~ property must be one of \"IN\""},
		{`"country","operator":"IN","valuess":["1"]`, "The ~/body/valuess~ property is unknown; the closest one is ~values~."},
	} {
		want := "204"
		if row.want != "" {
			want = "400 ValidationError: " + strings.ReplaceAll(row.want, "~", "`")
		}
		if got := h.Call(t.Context(), "validate", "", `{"contextName":`+row.body+`}`); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", row.body, got, want)
		}
	}
	for operator, value := range map[string]string{
		"NUM_EQ": "abc", "DATE_AFTER": "2026", "SEMVER_EQ": "1.2", "REGEX": "(", "IN_CIDR": "10.0.0.0/33",
	} {
		body := `{"contextName":"country","operator":"` + operator + `","value":"` + value + `"}`
		pointer := "/body/value"
		if operator == "IN_CIDR" {
			body = `{"contextName":"country","operator":"IN_CIDR","values":["` + value + `"]}`
			pointer = "/body/values/0"
		}
		got := h.Call(t.Context(), "validate", "", body)
		if !strings.HasPrefix(got, "400 ValidationError: The `"+pointer+"` property must be ") {
			t.Errorf("%s: %s", operator, got)
		}
	}
}

// Values are trimmed, except regular expressions, and duplicates are removed.
func TestParseAll(t *testing.T) {
	t.Parallel()
	all, violations := constraint.ParseAll("/body/constraints", []jsonbody.Object{
		{"contextName": "b", "operator": "IN", "values": []any{" 7", "8", "7 "}},
		{"contextName": "a", "operator": "REGEX", "value": " x "},
		{"contextName": "a", "operator": "NUM_EQ", "value": " 1 ", "inverted": true, "caseInsensitive": true},
		{"contextName": "userId", "operator": "IN", "values": []any{""}},
		nil,
	})
	assert.Equal(t, []toggle.Constraint{
		{ContextName: "b", Operator: "IN", Values: []string{"7", "8"}},
		{ContextName: "a", Operator: "REGEX", Value: " x "},
		{ContextName: "a", Operator: "NUM_EQ", Value: "1", Inverted: true, CaseInsensitive: true},
		{ContextName: "userId", Operator: "IN", Values: []string{""}},
		{},
	}, all)
	assert.Equal(t, "The `/body/constraints/3/values/0` property must have 1 or more characters; you sent \"\".",
		apierror.Invalid(violations...).Message)
	assert.Equal(t, []string{"a", "b"}, constraint.Fields(all[:4]))
	assert.Equal(t, []string{"a", "b", "userId"}, constraint.Names(all[:4]))
}
