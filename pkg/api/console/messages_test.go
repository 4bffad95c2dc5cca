package console_test

import (
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
)

// A form has its own words for the keywords of a schema, and otherwise the message of the API.
func TestInWords(t *testing.T) {
	t.Parallel()
	detail := func(path, keyword string, limit int64) apierror.Detail {
		return apierror.At(path, "is wrong").Violating(keyword, &limit)
	}
	tests := []struct {
		detail apierror.Detail
		words  string
	}{
		{detail("/body/name", "minLength", 1), "Enter a name."},
		{detail("/body/username", "required", 0), "Enter a user name."},
		{detail("/body/legalValues/3/value", "minLength", 1), "Enter a value."},
		{detail("/body/secret", "minLength", 24), "The value is wrong."},
		{detail("/body/constraints/0/values", "minItems", 1), "Enter at least one value."},
		{detail("/body/legalValues", "maxItems", 1000), "At most 1,000 values are possible."},
		{detail("/body/sortOrder", "minimum", -1000), "The lowest possible value is -1,000."},
		{detail("/body/lifetimeDays", "maximum", 24855), "The highest possible value is 24,855."},
		{detail("/body/name", "maxLength", 100), "At most 100 characters are possible."},
		{apierror.At("/body/sortOrder", "must be an integer").Violating("type", nil).Sent("x"), "The value must be an integer."},
	}
	input, want := []apierror.Detail{}, []string{}
	for _, test := range tests {
		input, want = append(input, test.detail), append(want, test.words)
	}
	assert.Equal(t, want, runModule[[]string](t, "messages.js", input, `input.map((detail) => inWords(detail))`))
}

func TestWrongName(t *testing.T) {
	t.Parallel()
	const rule = "A name has letters, digits and . _ ~ - only"
	for name, want := range map[string]string{
		"has space!": rule + ", such as has-space.",
		"Größe":      rule + ", such as Gro-e.",
		"..":         rule + ".",
		"ß":          rule + ".",
	} {
		assert.Equal(t, want, runModule[string](t, "messages.js", name, `wrongName(input)`))
	}
}
