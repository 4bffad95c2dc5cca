package console_test

import (
	"testing"

	"toggleadmin/test/helper/assert"
)

// The messages of the API about one value are those of a form.
func TestInWords(t *testing.T) {
	t.Parallel()
	const name = "must have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or .."
	tests := []struct{ message, words string }{
		{"The `/body/name` property must have 1 or more characters, and " + name + "; you sent \"\".", "Enter a name."},
		{"The `/body/legalValues/3/value` property must have 1 or more characters; you sent nothing.", "Enter a value."},
		{"The `/body/name` property " + name + "; you sent \"has space!\".",
			"A name has letters, digits and . _ ~ - only, such as has-space."},
		{"The `/body/name` property " + name + "; you sent \"..\".", "A name has letters, digits and . _ ~ - only."},
		{"The `/body/sortOrder` property must be an integer; you sent \"first\".", "Enter a whole number."},
		{"The `/body/legalValues` property must have at most 1000 elements; you sent [{\"value\":\"0\"},….",
			"At most 1,000 values are possible."},
		{"The `/body/lifetimeDays` property must be at most 24855; you sent 99999.",
			"The value must be at most 24855; you sent 99999."},
		{"The toggle \"x\" does not exist.", "The toggle \"x\" does not exist."},
	}
	input, want := []string{}, []string{}
	for _, test := range tests {
		input, want = append(input, test.message), append(want, test.words)
	}
	assert.Equal(t, want, runModule[[]string](t, "messages.js", input, `input.map((message) => inWords(message))`))
}
