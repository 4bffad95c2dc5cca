package toggle_test

import (
	"encoding/json"
	"os"
	"testing"

	"toggleadmin/pkg/toggle"
)

// schema is the part of a JSON Schema that contains limits.
type schema struct {
	Properties map[string]schema
	Items      *schema
	ReadOnly   bool // it is ignored
	Pattern    string
	MaxLength  int
	MaxItems   int
	Maximum    int64
}

// The schemas of bodies state the limits again, because a JSON file cannot refer to a constant.
func TestSchemasHaveTheLimits(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"contextfield/create", "contextfield/update", "feature/create", "feature/update", "featuretype/lifetime",
	} {
		text, err := os.ReadFile("../api/" + file + ".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		var body schema
		if err := json.Unmarshal(text, &body); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for name, property := range body.Properties {
			if property.ReadOnly {
				continue
			}
			switch name {
			case "name":
				if file == "feature/update" { // compared with the name of the toggle
					continue
				}
				check(t, file, name, property.Pattern, toggle.NamePattern)
				check(t, file, name, property.MaxLength, toggle.MaxName)
			case "description":
				check(t, file, name, property.MaxLength, toggle.MaxDescription)
			case "legalValues":
				check(t, file, name, property.MaxItems, toggle.MaxLegalValues)
				check(t, file, name, property.Items.Properties["value"].MaxLength, toggle.MaxLegalValue)
				check(t, file, name, property.Items.Properties["description"].MaxLength, toggle.MaxDescription)
			case "lifetimeDays":
				check(t, file, name, property.Maximum, toggle.MaxLifetimeDays)
			}
		}
	}
}

func check[T comparable](t *testing.T, file, property string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s.schema.json, %s: got %v, want %v", file, property, got, want)
	}
}
