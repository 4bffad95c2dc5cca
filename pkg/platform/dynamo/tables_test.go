package dynamo_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
)

// TestTables checks that logical ids, variables and fields belong together, and that no field is left out.
func TestTables(t *testing.T) {
	t.Parallel()
	fields := reflect.TypeFor[dynamo.Tables]()
	assert.Equal(t, fields.NumField(), len(dynamo.TableIDs()))
	for i, id := range dynamo.TableIDs() {
		assert.Equal(t, fields.Field(i).Name, strings.Replace(id, "Api", "API", 1))
		variable := strings.ToUpper(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(id, "${1}_${2}")) + "_TABLE"
		var want, got dynamo.Tables
		reflect.ValueOf(&want).Elem().Field(i).SetString("x")
		assert.OK(t, got.SetVariable(variable, "x"))
		assert.Equal(t, []any{want, want, "x"}, []any{got, dynamo.TablesByID(map[string]string{id: "x"}), got.ByID()[id]})
	}
	var none dynamo.Tables
	if err := none.SetVariable("OTHER_TABLE", "x"); err == nil || !strings.Contains(err.Error(), "OTHER_TABLE") ||
		none != (dynamo.Tables{}) {
		t.Errorf("error %v, %+v", err, none)
	}
}
