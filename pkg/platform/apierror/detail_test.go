package apierror_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
)

// The sentence names the place and what was sent. The detail leaves both to the form that shows it.
func TestDetails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		detail       apierror.Detail
		sentence     string
		path, inForm string
	}{
		{
			apierror.At("/body/name", "must be a string").Violating("type", nil).SentJSON("7"),
			"The `/body/name` property must be a string; you sent 7.",
			"/body/name", `"keyword":"type","message":"The value must be a string."`,
		},
		{
			apierror.At("/body/a/0", "must have at most %d characters", 3).Violating("maxLength", new(int64(3))).Sent("four"),
			"The `/body/a/0` property must have at most 3 characters; you sent \"four\".",
			"/body/a/0", `"keyword":"maxLength","limit":3,"message":"The value must have at most 3 characters."`,
		},
		{
			apierror.Missing("/body/name"),
			"The `/body/name` property is required; you did not send it.",
			"/body/name", `"keyword":"required","message":"The value is required."`,
		},
		{
			apierror.At("/body", "must be valid JSON"), "The `/body` must be valid JSON.",
			"/body", `"message":"The value must be valid JSON."`,
		},
		{
			apierror.At("/query/from", "must be a date").Sent("*:*.v2_AAAAAAAAAAAAAAAAAAAAAA_x"),
			"The `/query/from` parameter must be a date; you sent \"[redacted]\".",
			"/query/from", `"message":"The value must be a date."`,
		},
		{
			apierror.At("/params/id", "must be a number"), "The `/params/id` property must be a number.",
			"/params/id", `"message":"The value must be a number."`,
		},
		{
			apierror.At("/headers/If-Match", "must be an entity tag"), "The `If-Match` header must be an entity tag.",
			"/headers/If-Match", `"message":"The value must be an entity tag."`,
		},
	} {
		assert.Equal(t, test.sentence, apierror.Invalid(test.detail).Message)
		got, err := json.Marshal(test.detail)
		assert.OK(t, err)
		assert.Equal(t, `{"path":"`+test.path+`",`+test.inForm+`}`, string(got))
	}
	both := apierror.Invalid(apierror.At("/body/a", "is wrong"), apierror.At("/body/b", "is wrong"))
	assert.Equal(t, "The `/body/a` property is wrong. The `/body/b` property is wrong.", both.Message)
	assert.Equal(t, apierror.Validation, both.Kind)
	taken := apierror.Taken("/body/name", "The name %q exists.", "x")
	assert.Equal(t, `The name "x" exists.`, taken.Message)
	got, err := json.Marshal(taken.Details)
	assert.OK(t, err)
	assert.Equal(t, `[{"path":"/body/name","message":"The name \"x\" exists."}]`, string(got))
	assert.OK(t, apierror.InvalidIfAny(nil))
}

// The places of an error for a part of the body begin with the place of the part.
func TestBelow(t *testing.T) {
	t.Parallel()
	err := apierror.Below("/body/0/payload", apierror.Invalid(
		apierror.At("/body/name", "must be a string").SentJSON("7"), apierror.At("/body", "must be an object")))
	e := apierror.From(err)
	assert.Equal(t, "The `/body/0/payload/name` property must be a string; you sent 7. The `/body/0/payload` property must be "+
		"an object.", e.Message)
	assert.Equal(t, "/body/0/payload/name /body/0/payload", e.Details[0].Path+" "+e.Details[1].Path)
	other := apierror.New(apierror.Conflict, "The `/body/name` is taken.")
	assert.Equal(t, error(other), apierror.Below("/body/0", other), cmpopts.EquateErrors())
}
