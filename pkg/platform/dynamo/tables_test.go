package dynamo_test

import (
	"testing"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

func TestVariable(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"Users":                "USERS_TABLE",
		"ApiTokens":            "API_TOKENS_TABLE",
		"PersonalAccessTokens": "PERSONAL_ACCESS_TOKENS_TABLE",
	} {
		assert.Equal(t, want, dynamo.Variable(id))
	}
}
