package jsonbody

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/platform/datetime"
)

// document contains the supported keywords of a JSON Schema of an object: a body, or an element of an array.
type document struct {
	Schema      string                      `json:"$schema"`
	Title       string                      `json:"title"`
	Description string                      `json:"description"`
	Type        string                      `json:"type"`
	Required    []string                    `json:"required"`
	Properties  map[string]propertyKeywords `json:"properties"`
	Additional  *bool                       `json:"additionalProperties"` // by default true
}

// elements contains the supported keywords of the elements of an array: objects or strings.
type elements struct {
	document
	MinLength *int   `json:"minLength"`
	MaxLength *int   `json:"maxLength"`
	Pattern   string `json:"pattern"`
}

// propertyKeywords contains the supported keywords of a property. Numbers and their bounds are integers.
type propertyKeywords struct {
	Description string    `json:"description"`
	Type        typeNames `json:"type"`
	Minimum     *int64    `json:"minimum"`
	Maximum     *int64    `json:"maximum"`
	MinLength   *int      `json:"minLength"`
	MaxLength   *int      `json:"maxLength"`
	MinItems    *int      `json:"minItems"`
	MaxItems    *int      `json:"maxItems"`
	Items       *elements `json:"items"`
	Pattern     string    `json:"pattern"`
	Format      string    `json:"format"`
	ReadOnly    bool      `json:"readOnly"` // accepted in a request, and ignored
}

// typeNames is one name or a list of names.
type typeNames []string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *typeNames) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		return jsonv2.UnmarshalDecode(d, (*[]string)(n))
	}
	*n = make(typeNames, 1)
	return jsonv2.UnmarshalDecode(d, &(*n)[0])
}

// Schema is a compiled JSON Schema of an object. It is safe for concurrent use.
type Schema struct {
	properties []property
	known      []string // the names of all declared properties; nil: others are ignored
}

type property struct {
	name     string
	required bool
	checks   []check
	items    *items // nil if the property is not an array
}

// items are the elements of an array: objects, or strings if object is nil.
type items struct {
	object *Schema
	checks []check
}

// check is the check of one keyword.
type check struct {
	must  string // completes "The property must …"
	valid func(value any) bool
}

// Compile compiles the JSON Schema of an object. A keyword, type, pattern or format that this package cannot check and
// describe is an error that names it and its property.
func Compile(file []byte) (*Schema, error) {
	var d document
	if err := jsonv2.Unmarshal(file, &d, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("compile a JSON Schema: %w", err)
	}
	return d.compile()
}

// MustCompile is Compile for a file that is part of the program. It panics instead of returning an error.
func MustCompile(file []byte) *Schema {
	schema, err := Compile(file)
	if err != nil {
		panic(err)
	}
	return schema
}

func (d document) compile() (*Schema, error) {
	if d.Type != "object" {
		return nil, errors.New("compile a JSON Schema: the type must be object, or string for items")
	}
	s := &Schema{}
	if d.Additional != nil && !*d.Additional {
		s.known = slices.Sorted(maps.Keys(d.Properties))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Properties)) {
		if d.Properties[name].ReadOnly {
			continue
		}
		p := property{name: name, required: slices.Contains(d.Required, name)}
		var err error
		if p.checks, p.items, err = d.Properties[name].compile(); err != nil {
			return nil, fmt.Errorf("compile the property %q of a JSON Schema: %w", name, err)
		}
		s.properties = append(s.properties, p)
	}
	for _, name := range d.Required {
		if _, ok := d.Properties[name]; !ok {
			return nil, fmt.Errorf("compile a JSON Schema: the required property %q is not declared", name)
		}
	}
	return s, nil
}

// types contains the supported types of a property.
var types = map[string]check{
	"array":   {"an array", func(v any) bool { _, ok := v.([]any); return ok }},
	"boolean": {"a boolean", func(v any) bool { _, ok := v.(bool); return ok }},
	"integer": {"an integer", func(v any) bool { _, ok := integer(v); return ok }},
	"null":    {"null", func(v any) bool { return v == nil }},
	"string":  {"a string", func(v any) bool { _, ok := v.(string); return ok }},
}

// notSpace matches a character that is not white space in Unicode. In Go, \s is white space of ASCII, without the
// vertical tab.
const notSpace = "[^\\s\\x0b\\x85\\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"

// patterns contains the supported patterns with their descriptions.
var patterns = map[string]string{
	`^(\.*[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\.{3,})$`: "have only the characters A-Z a-z 0-9 . _ ~ -, and must not be . or ..",
	notSpace: "not be only white space",
	"^" + notSpace + "([\\s\\S]*" + notSpace + ")?$": "have no white space at either end",
}

func (e elements) compile() (*items, error) {
	if e.Type == "string" {
		checks, _, err := propertyKeywords{
			Type: typeNames{e.Type}, MinLength: e.MinLength, MaxLength: e.MaxLength, Pattern: e.Pattern,
		}.compile()
		return &items{checks: checks}, err
	}
	object, err := e.document.compile()
	return &items{object: object}, err
}

func (k propertyKeywords) compile() (checks []check, elements *items, err error) {
	typeCheck, err := k.Type.compile()
	if err != nil {
		return nil, nil, err
	}
	checks = []check{typeCheck}
	if slices.Contains(k.Type, "array") {
		if k.Items == nil {
			return nil, nil, errors.New("the keyword items is missing")
		}
		if elements, err = k.Items.compile(); err != nil {
			return nil, nil, err
		}
	}
	if k.Minimum != nil {
		checks = append(checks, ofInteger("be at least %d", *k.Minimum, func(n int64) bool { return n >= *k.Minimum }))
	}
	if k.Maximum != nil {
		checks = append(checks, ofInteger("be at most %d", *k.Maximum, func(n int64) bool { return n <= *k.Maximum }))
	}
	if k.MinLength != nil {
		must := fmt.Sprintf("have %d or more characters", *k.MinLength)
		checks = append(checks, ofString(must, func(s string) bool { return utf8.RuneCountInString(s) >= *k.MinLength }))
	}
	if k.MaxLength != nil {
		must := fmt.Sprintf("have at most %d characters", *k.MaxLength)
		checks = append(checks, ofString(must, func(s string) bool { return utf8.RuneCountInString(s) <= *k.MaxLength }))
	}
	if k.MinItems != nil {
		must := fmt.Sprintf("have %d or more elements", *k.MinItems)
		checks = append(checks, ofArray(must, func(n int) bool { return n >= *k.MinItems }))
	}
	if k.MaxItems != nil {
		must := fmt.Sprintf("have at most %d elements", *k.MaxItems)
		checks = append(checks, ofArray(must, func(n int) bool { return n <= *k.MaxItems }))
	}
	if k.Pattern != "" {
		must, ok := patterns[k.Pattern]
		if !ok {
			return nil, nil, fmt.Errorf("the pattern %q is not supported", k.Pattern)
		}
		checks = append(checks, ofString(must, regexp.MustCompile(k.Pattern).MatchString))
	}
	switch k.Format {
	case "":
	case "date-time":
		checks = append(checks, ofString("be an RFC 3339 date-time with an offset or Z", func(s string) bool {
			_, err := datetime.Parse(s)
			return err == nil
		}))
	default:
		return nil, nil, fmt.Errorf("the format %q is not supported", k.Format)
	}
	return checks, elements, nil
}

func (n typeNames) compile() (check, error) {
	if len(n) == 0 {
		return check{}, errors.New("the keyword type is missing")
	}
	phrases := make([]string, len(n))
	for i, name := range n {
		if types[name].valid == nil {
			return check{}, fmt.Errorf("the type %q is not supported", name)
		}
		phrases[i] = types[name].must
	}
	return check{"be " + strings.Join(phrases, " or "), func(v any) bool {
		return slices.ContainsFunc(n, func(name string) bool { return types[name].valid(v) })
	}}, nil
}

// ofInteger returns a check that, as in JSON Schema, all values of another type pass.
func ofInteger(format string, bound int64, valid func(int64) bool) check {
	return check{fmt.Sprintf(format, bound), func(v any) bool { n, ok := integer(v); return !ok || valid(n) }}
}

// ofString returns a check that, as in JSON Schema, all values of another type pass.
func ofString(must string, valid func(string) bool) check {
	return check{must, func(v any) bool { s, ok := v.(string); return !ok || valid(s) }}
}

// ofArray returns a check that, as in JSON Schema, all values of another type pass. Its argument is the number of
// elements.
func ofArray(must string, valid func(int) bool) check {
	return check{must, func(v any) bool { list, ok := v.([]any); return !ok || valid(len(list)) }}
}

// violations returns the sentences that describe what is wrong with an object, and removes the invalid properties from
// it. pointer is the object's JSON pointer.
func (s *Schema) violations(pointer string, object Object) (all []string) {
	for _, p := range s.properties {
		all = append(all, p.violations(pointer+"/"+p.name, object)...)
	}
	return append(all, s.unknown(pointer, object)...)
}

// violations returns the sentences that describe what is wrong with the property at a pointer, and removes it from the
// object if it is invalid. The elements of an array are checked only if the array itself is valid, which limits their
// number. An invalid element does not make the array invalid; its invalid properties are removed.
func (p property) violations(pointer string, object Object) (found []string) {
	value, sent := object[p.name]
	if !sent {
		if p.required {
			found = append(found, fmt.Sprintf("The `%s` property is required; you did not send it.", pointer))
		}
		return found
	}
	for _, c := range p.checks {
		if !c.valid(value) {
			found = append(found, violation(pointer, c.must, value))
		}
	}
	if found != nil {
		delete(object, p.name)
		return found
	}
	list, _ := value.([]any)
	for i, element := range list {
		found = append(found, p.items.violations(fmt.Sprintf("%s/%d", pointer, i), element)...)
	}
	return found
}

func (e *items) violations(at string, element any) (found []string) {
	object, ok := element.(map[string]any)
	switch {
	case e.object != nil && ok:
		return e.object.violations(at, object)
	case e.object != nil:
		return []string{violation(at, "be an object", element)}
	}
	for _, c := range e.checks {
		if !c.valid(element) {
			found = append(found, violation(at, c.must, element))
		}
	}
	return found
}

func violation(pointer, must string, value any) string {
	return fmt.Sprintf("The `%s` property must %s; you sent %s.", pointer, must, echo(value))
}
