package toggle_test

import (
	"encoding/json"
	"testing"

	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

func TestEnabledOfADependency(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]bool{
		`{"feature":"parent"}`:                 true,
		`{"feature":"parent","enabled":true}`:  true,
		`{"feature":"parent","enabled":false}`: false,
	} {
		var dependency toggle.Dependency
		assert.OK(t, json.Unmarshal([]byte(document), &dependency))
		assert.Equal(t, toggle.Dependency{Feature: "parent", Enabled: want}, dependency)
	}
}
