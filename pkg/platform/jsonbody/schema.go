package jsonbody

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toggleadmin/pkg/platform/datetime"
)

// keywords contains the supported keywords of a JSON Schema. The schemas of properties, of items and of additional
// properties have the same keywords. Bounds are integers.
type keywords struct {
	Schema      string `json:"$schema"`
	Title       string `json:"title"`
	Description string `json:"description"`

	Type  typeNames `json:"type"`
	Enum  []string  `json:"enum"`  // of strings only
	Const *bool     `json:"const"` // a boolean only

	Minimum *int64 `json:"minimum"`
	Maximum *int64 `json:"maximum"`

	MinLength *int64 `json:"minLength"`
	MaxLength *int64 `json:"maxLength"`
	Pattern   string `json:"pattern"`
	Format    string `json:"format"`
	// PatternText completes the sentence "The property must …" for a value that does not match Pattern.
	PatternText string `json:"x-pattern-text"`

	MinItems *int64    `json:"minItems"`
	MaxItems *int64    `json:"maxItems"`
	Items    *keywords `json:"items"`

	Required             []string             `json:"required"`
	Properties           map[string]*keywords `json:"properties"`
	AdditionalProperties *additional          `json:"additionalProperties"`

	ReadOnly bool `json:"readOnly"` // accepted in a request, and ignored
}

// typeNames is one name or a list of names.
type typeNames []string

// UnmarshalJSONFrom decodes a name or a list of names.
func (n *typeNames) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		return jsonv2.UnmarshalDecode(d, (*[]string)(n))
	}
	*n = make(typeNames, 1)
	return jsonv2.UnmarshalDecode(d, &(*n)[0])
}

// additional is the keyword additionalProperties: false, true, or the schema of the additional properties.
type additional struct {
	rejected bool
	schema   *keywords // nil: any value
}

// UnmarshalJSONFrom decodes a boolean or a schema.
func (a *additional) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '{' {
		return jsonv2.UnmarshalDecode(d, &a.schema)
	}
	var accepted bool
	err := jsonv2.UnmarshalDecode(d, &accepted)
	a.rejected = !accepted
	return err
}

// Schema is the compiled JSON Schema of an object, or of an array of objects. It is safe for concurrent use.
type Schema struct {
	kind kind
	body *node
}

// node is the compiled JSON Schema of a value.
type node struct {
	checks []check

	// Of an object.
	properties []property // ordered by name, without those that are read-only
	declared   []string   // the names of all properties, in order
	closed     bool       // reject properties that are not declared
	others     *node      // the schema of properties that are not declared; nil: any value

	elements *node // of an array
}

type property struct {
	name     string
	required bool
	value    *node
}

// check is the check of one keyword.
type check struct {
	keyword string
	limit   *int64 // the value of the keyword, if it is a number
	must    string // completes "The property must …"
	valid   func(value any) bool
}

// Compile compiles the JSON Schema of an object, or of an array of objects. A keyword, type or format that this package
// does not support is an error that names it and the place of its schema.
func Compile(file []byte) (*Schema, error) {
	var k keywords
	if err := jsonv2.Unmarshal(file, &k, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("compile a JSON Schema: %w", err)
	}
	isObject := func(k *keywords) bool { return k != nil && slices.Equal(k.Type, typeNames{"object"}) }
	if !isObject(&k) && !(slices.Equal(k.Type, typeNames{"array"}) && isObject(k.Items)) {
		return nil, errors.New("compile a JSON Schema: the type of a body must be object, or array with items of the type " +
			"object")
	}
	body, err := k.compile("")
	if err != nil {
		return nil, fmt.Errorf("compile a JSON Schema: %w", err)
	}
	return &Schema{types[k.Type[0]], body}, nil
}

// MustCompile is Compile for a file that is part of the program. It panics instead of returning an error.
func MustCompile(file []byte) *Schema {
	schema, err := Compile(file)
	if err != nil {
		panic(err)
	}
	return schema
}

// compile compiles the schema at a JSON pointer in its file.
func (k *keywords) compile(pointer string) (*node, error) {
	checks, err := k.checks()
	if err != nil {
		return nil, fmt.Errorf("the schema %q: %w", pointer, err)
	}
	n := &node{checks: checks, declared: slices.Sorted(maps.Keys(k.Properties))}
	for _, name := range n.declared {
		declaration := k.Properties[name]
		if declaration.ReadOnly {
			continue
		}
		value, err := declaration.compile(pointer + "/properties/" + name)
		if err != nil {
			return nil, err
		}
		n.properties = append(n.properties, property{name, slices.Contains(k.Required, name), value})
	}
	for _, name := range k.Required {
		if k.Properties[name] == nil {
			return nil, fmt.Errorf("the schema %q: the required property %q is not declared", pointer, name)
		}
	}
	if a := k.AdditionalProperties; a != nil {
		n.closed = a.rejected
		if a.schema != nil {
			if n.others, err = a.schema.compile(pointer + "/additionalProperties"); err != nil {
				return nil, err
			}
		}
	}
	if slices.Contains(k.Type, "array") {
		if k.Items == nil {
			return nil, fmt.Errorf("the schema %q: the keyword items is missing", pointer)
		}
		if n.elements, err = k.Items.compile(pointer + "/items"); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// checks returns the checks of the value itself, without those of its properties and elements.
func (k *keywords) checks() ([]check, error) {
	typeCheck, err := k.Type.check()
	if err != nil {
		return nil, err
	}
	all := []check{typeCheck, ofString("", textRule, isText)}
	if k.Enum != nil {
		all = append(all, ofString("enum", oneOf(k.Enum), func(s string) bool { return slices.Contains(k.Enum, s) }))
	}
	if k.Const != nil {
		all = append(all, ofBoolean("const", fmt.Sprintf("be %t", *k.Const), func(b bool) bool { return b == *k.Const }))
	}
	if k.Minimum != nil {
		must := fmt.Sprintf("be at least %d", *k.Minimum)
		all = append(all, ofInteger(must, func(n int64) bool { return n >= *k.Minimum }).limited("minimum", *k.Minimum))
	}
	if k.Maximum != nil {
		must := fmt.Sprintf("be at most %d", *k.Maximum)
		all = append(all, ofInteger(must, func(n int64) bool { return n <= *k.Maximum }).limited("maximum", *k.Maximum))
	}
	if k.MinLength != nil {
		must := fmt.Sprintf("have %d or more characters", *k.MinLength)
		all = append(all, ofLength(must, func(n int64) bool { return n >= *k.MinLength }).limited("minLength", *k.MinLength))
	}
	if k.MaxLength != nil {
		must := fmt.Sprintf("have at most %d characters", *k.MaxLength)
		all = append(all, ofLength(must, func(n int64) bool { return n <= *k.MaxLength }).limited("maxLength", *k.MaxLength))
	}
	if k.MinItems != nil {
		must := fmt.Sprintf("have %d or more elements", *k.MinItems)
		all = append(all, ofArray(must, func(n int64) bool { return n >= *k.MinItems }).limited("minItems", *k.MinItems))
	}
	if k.MaxItems != nil {
		must := fmt.Sprintf("have at most %d elements", *k.MaxItems)
		if *k.MaxItems == 0 {
			must = "be empty"
		}
		all = append(all, ofArray(must, func(n int64) bool { return n <= *k.MaxItems }).limited("maxItems", *k.MaxItems))
	}
	if k.Pattern != "" {
		pattern, err := regexp.Compile(k.Pattern)
		if err != nil {
			return nil, err
		}
		if k.PatternText == "" {
			return nil, errors.New("a pattern needs x-pattern-text, its description")
		}
		rejectsEmpty := k.MinLength != nil && *k.MinLength > 0 // so that an empty string gets one sentence
		all = append(all, ofString("pattern", k.PatternText, func(s string) bool {
			return s == "" && rejectsEmpty || pattern.MatchString(s)
		}))
	}
	switch k.Format {
	case "":
	case "date-time":
		all = append(all, ofString("format", "be an RFC 3339 date-time with an offset or Z", isDateTime))
	default:
		return nil, fmt.Errorf("the format %q is not supported", k.Format)
	}
	return all, nil
}

func isDateTime(s string) bool {
	_, err := datetime.Parse(s)
	return err == nil
}

// oneOf completes "The property must …" for the values of an enumeration.
func oneOf(values []string) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = strconv.Quote(value)
	}
	return "be one of " + strings.Join(quoted, ", ")
}

// kind is a type of values.
type kind struct {
	phrase string // completes "The property must be …"
	is     func(value any) bool
}

// types contains the supported types.
var types = map[string]kind{
	"array":   {"an array", func(v any) bool { _, ok := v.([]any); return ok }},
	"boolean": {"a boolean", func(v any) bool { _, ok := v.(bool); return ok }},
	"integer": {"an integer", func(v any) bool { _, ok := integer(v); return ok }},
	"null":    {"null", func(v any) bool { return v == nil }},
	"object":  {"an object", func(v any) bool { _, ok := v.(map[string]any); return ok }},
	"string":  {"a string", func(v any) bool { _, ok := v.(string); return ok }},
}

// check returns the check that a value has one of the types.
func (n typeNames) check() (check, error) {
	if len(n) == 0 {
		return check{}, errors.New("the keyword type is missing")
	}
	phrases := make([]string, len(n))
	for i, name := range n {
		supported, ok := types[name]
		if !ok {
			return check{}, fmt.Errorf("the type %q is not supported", name)
		}
		phrases[i] = supported.phrase
	}
	hasOneOfTheTypes := func(value any) bool {
		return slices.ContainsFunc(n, func(name string) bool { return types[name].is(value) })
	}
	return check{"type", nil, "be " + strings.Join(phrases, " or "), hasOneOfTheTypes}, nil
}

// limited returns a check with a keyword that has a number.
func (c check) limited(keyword string, limit int64) check {
	c.keyword, c.limit = keyword, &limit
	return c
}

// ofInteger returns a check of integers. As in JSON Schema, a value of another type passes.
func ofInteger(must string, valid func(int64) bool) check {
	return check{must: must, valid: func(value any) bool {
		n, ok := integer(value)
		return !ok || valid(n)
	}}
}

// ofBoolean returns a check of booleans. As in JSON Schema, a value of another type passes.
func ofBoolean(keyword, must string, valid func(bool) bool) check {
	return check{keyword, nil, must, func(value any) bool {
		b, ok := value.(bool)
		return !ok || valid(b)
	}}
}

// ofString returns a check of strings. As in JSON Schema, a value of another type passes.
func ofString(keyword, must string, valid func(string) bool) check {
	return check{keyword, nil, must, func(value any) bool {
		s, ok := value.(string)
		return !ok || valid(s)
	}}
}

// ofLength returns a check of the number of characters of a string. As in JSON Schema, a value of another type passes.
func ofLength(must string, valid func(length int64) bool) check {
	return ofString("", must, func(s string) bool { return valid(int64(utf8.RuneCountInString(s))) })
}

// ofArray returns a check of the length of an array. As in JSON Schema, a value of another type passes.
func ofArray(must string, valid func(length int64) bool) check {
	return check{must: must, valid: func(value any) bool {
		list, ok := value.([]any)
		return !ok || valid(int64(len(list)))
	}}
}
