package jsonbody

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"toggleadmin/pkg/datetime"
)

// Schema is a compiled JSON Schema of an object. It is safe for concurrent use.
//
// It is the file, taken apart into one check for each keyword of each property: the library that validates stops at the first violation,
// and callers are to be told of all.
type Schema struct{ checks []check }

// check is one keyword at one place.
type check struct {
	member   string // of the body; empty: the body itself
	required bool   // the check is that the member is there
	holds    func(value any) bool
	must     string // completes "must …"
}

// Compile makes a Schema of a file's bytes. The format date-time is the contract's; another one is refused.
func Compile(file []byte) (*Schema, error) {
	var whole jsonschema.Schema
	if err := json.Unmarshal(file, &whole); err != nil {
		return nil, fmt.Errorf("read a JSON Schema: %w", err)
	}
	if whole.Type != "object" {
		return nil, errors.New("read a JSON Schema: a body must be of the type object")
	}
	s := &Schema{}
	for _, name := range whole.Required {
		s.checks = append(s.checks, check{member: name, required: true})
	}
	for _, name := range slices.Sorted(maps.Keys(whole.Properties)) {
		if err := s.add(name, whole.Properties[name]); err != nil {
			return nil, fmt.Errorf("compile the property %q of a JSON Schema: %w", name, err)
		}
	}
	whole.Required, whole.Properties = nil, nil
	if err := s.add("", &whole); err != nil {
		return nil, fmt.Errorf("compile a JSON Schema: %w", err)
	}
	return s, nil
}

// add takes the schema of one place apart.
func (s *Schema) add(member string, whole *jsonschema.Schema) error {
	rest := *whole
	take := func(keyword *jsonschema.Schema, must string) error {
		resolved, err := keyword.Resolve(nil)
		if err != nil {
			return err
		}
		s.checks = append(s.checks, check{
			member: member, must: must, holds: func(value any) bool { return resolved.Validate(value) == nil },
		})
		return nil
	}
	for _, k := range keywords(whole) {
		if err := take(k.schema, k.must); err != nil {
			return err
		}
	}
	switch whole.Format {
	case "":
	case "date-time":
		s.checks = append(s.checks, check{member: member, must: "be an RFC 3339 date-time with an offset or Z", holds: isDateTime})
	default:
		return fmt.Errorf("the format %q is not known", whole.Format)
	}
	// What is left is annotations, or keywords that no text has been found for.
	rest.Type, rest.Types, rest.Minimum, rest.Maximum, rest.MinLength, rest.MaxLength, rest.Pattern = "", nil, nil, nil, nil, nil, ""
	rest.Schema, rest.Format, rest.Title, rest.Description, rest.Examples = "", "", "", "", nil
	if !reflect.DeepEqual(&rest, &jsonschema.Schema{PropertyOrder: rest.PropertyOrder}) {
		return take(&rest, "fit the schema of the API's documentation")
	}
	return nil
}

func isDateTime(value any) bool {
	text, ok := value.(string)
	if !ok {
		return true // the type's business
	}
	_, err := datetime.Parse(text)
	return err == nil
}
