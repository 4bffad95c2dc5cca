package jsonbody

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toggleadmin/pkg/apierror"
)

// describe names every violation: its place, what was expected and what was sent.
func describe(violation *jsonschema.ValidationError, value any, raw document) string {
	var sentences []string
	for _, leaf := range leaves(violation) {
		sentences = append(sentences, sentencesOf(leaf, value, raw)...)
	}
	slices.Sort(sentences) // the validator walks a map
	return strings.Join(slices.Compact(sentences), " ")
}

func leaves(violation *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(violation.Causes) == 0 {
		return []*jsonschema.ValidationError{violation}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range violation.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

func sentencesOf(leaf *jsonschema.ValidationError, value any, raw document) []string {
	at := "/body"
	for _, name := range leaf.InstanceLocation {
		at += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	if required, ok := leaf.ErrorKind.(*kind.Required); ok {
		var all []string
		for _, name := range required.Missing {
			all = append(all, fmt.Sprintf("The `%s/%s` property is required; you did not send it.", at, name))
		}
		return all
	}
	subject := "The `" + apierror.Echo(at) + "` property"
	if at == "/body" {
		subject = "The `/body`"
	}
	return []string{fmt.Sprintf("%s must %s; you sent %s.", subject, expectation(leaf.ErrorKind), sent(leaf.InstanceLocation, at, value, raw))}
}

// expectation completes "must …" for the keywords that our schemas use.
func expectation(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		names := make([]string, len(k.Want))
		for i, want := range k.Want {
			names[i] = withArticle(want)
		}
		return "be " + strings.Join(names, " or ")
	case *kind.Minimum:
		return "be at least " + plain(k.Want)
	case *kind.Maximum:
		return "be at most " + plain(k.Want)
	case *kind.MinLength:
		return "have at least " + strconv.Itoa(k.Want) + " character(s)"
	case *kind.MaxLength:
		return "have at most " + strconv.Itoa(k.Want) + " characters"
	case *kind.Format:
		return "be an RFC 3339 " + k.Want + " with an offset or Z"
	case *kind.Pattern:
		return "not be only white space"
	default:
		return "fit the schema of the API's documentation"
	}
}

func withArticle(name string) string {
	switch name {
	case "null":
		return name
	case "object", "integer", "array":
		return "an " + name
	default:
		return "a " + name
	}
}

func plain(bound *big.Rat) string {
	if bound.IsInt() {
		return bound.Num().String()
	}
	return bound.FloatString(2)
}

// sent shows the value at a location as JSON.
func sent(location []string, at string, value any, raw document) string {
	if text, ok := raw[at]; ok {
		return apierror.Echo(text)
	}
	for _, name := range location {
		switch container := value.(type) {
		case map[string]any:
			value = container[name]
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i < len(container) {
				value = container[i]
			}
		}
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)                  // the answer's own encoding does that
	if err := encoder.Encode(value); err != nil { // parse made it of JSON
		return "something else"
	}
	return apierror.Echo(strings.TrimSuffix(text.String(), "\n"))
}
