package jsonbody

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"toggleadmin/pkg/apierror"
)

// keyword is a schema of one keyword, and what it demands in words that complete "must …".
type keyword struct {
	schema *jsonschema.Schema
	must   string
}

// keywords finds those that there are words for.
func keywords(s *jsonschema.Schema) (found []keyword) {
	if s.Type != "" {
		found = append(found, keyword{&jsonschema.Schema{Type: s.Type}, "be " + alternatives([]string{s.Type})})
	}
	if s.Types != nil {
		found = append(found, keyword{&jsonschema.Schema{Types: s.Types}, "be " + alternatives(s.Types)})
	}
	if s.Minimum != nil {
		found = append(found, keyword{&jsonschema.Schema{Minimum: s.Minimum}, fmt.Sprintf("be at least %.0f", *s.Minimum)})
	}
	if s.Maximum != nil {
		found = append(found, keyword{&jsonschema.Schema{Maximum: s.Maximum}, fmt.Sprintf("be at most %.0f", *s.Maximum)})
	}
	if s.MinLength != nil {
		must := fmt.Sprintf("have at least %d characters", *s.MinLength)
		if *s.MinLength == 1 {
			must = "not be empty"
		}
		found = append(found, keyword{&jsonschema.Schema{MinLength: s.MinLength}, must})
	}
	if s.MaxLength != nil {
		found = append(found, keyword{&jsonschema.Schema{MaxLength: s.MaxLength}, fmt.Sprintf("have at most %d characters", *s.MaxLength)})
	}
	if s.Pattern != "" { // the one pattern that our schemas have
		found = append(found, keyword{&jsonschema.Schema{Pattern: s.Pattern}, "not be only white space"})
	}
	return found
}

// alternatives spells types: an integer or null.
func alternatives(types []string) string {
	names := make([]string, len(types))
	for i, name := range types {
		switch name {
		case "null":
			names[i] = name
		case "object", "integer", "array":
			names[i] = "an " + name
		default:
			names[i] = "a " + name
		}
	}
	return strings.Join(names, " or ")
}

// violation is the sentence that says what is wrong with a body: the place, what was expected and what was sent; "" is nothing. object
// is the body where it is one, else nil: then it has no members to look at.
func (c check) violation(body any, object map[string]any) string {
	if c.member == "" {
		if c.holds(validatable(body)) {
			return ""
		}
		return fmt.Sprintf("The `/body` must %s; you sent %s.", c.must, sent(body))
	}
	value, there := object[c.member]
	place := "/body/" + c.member
	switch {
	case object == nil:
		return ""
	case !there && c.required:
		return fmt.Sprintf("The `%s` property is required; you did not send it.", place)
	case !there, c.required, c.holds(validatable(value)):
		return ""
	}
	return fmt.Sprintf("The `%s` property must %s; you sent %s.", place, c.must, sent(value))
}

// sent shows a value as JSON. A string is cut before its quotes are put around it.
func sent(value any) string {
	text, isString := value.(string)
	if isString {
		value = apierror.Echo(text)
	}
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)                  // the answer's own encoding does that
	if err := encoder.Encode(value); err != nil { // parse made it of JSON
		return "something else"
	}
	line := strings.TrimSuffix(encoded.String(), "\n")
	if isString {
		return line
	}
	return apierror.Echo(line)
}
