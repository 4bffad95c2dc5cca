package dynamo_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
)

// TestTables checks that logical ids, variables and fields belong together, and that no field is left out.
func TestTables(t *testing.T) {
	t.Parallel()
	ids := dynamo.TableIDs()
	names, fields := map[string]string{}, reflect.TypeFor[dynamo.Tables]()
	for _, id := range ids {
		names[id] = "name of " + id
	}
	all := dynamo.TablesByID(names)
	assert.Equal(t, names, all.ByID())
	for i := range fields.NumField() {
		field := fields.Field(i).Name
		id := strings.Replace(field, "API", "Api", 1)
		if !slices.Contains(ids, id) || reflect.ValueOf(all).Field(i).String() != names[id] {
			t.Errorf("the field %s has the name %q", field, reflect.ValueOf(all).Field(i))
		}
		variable := strings.ToUpper(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(id, "${1}_${2}")) + "_TABLE"
		var one dynamo.Tables
		if err := one.SetVariable(variable, "x"); err != nil || reflect.ValueOf(one).Field(i).String() != "x" {
			t.Errorf("%s: %v, %+v", variable, err, one)
		}
	}
	assert.Equal(t, fields.NumField(), len(ids))
	var none dynamo.Tables
	if err := none.SetVariable("OTHER_TABLE", "x"); err == nil || !strings.Contains(err.Error(), "OTHER_TABLE") ||
		none != (dynamo.Tables{}) {
		t.Errorf("error %v, %+v", err, none)
	}
}
