package gateway

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// variable returns the value of a $context variable; empty if it has none.
type variable func(*request) string

// accessLogVariables are the variables that an access log format may use. No value contains text that a client writes,
// because nothing is escaped: a client could add members to the line, or push members beyond its end. For this reason
// $context.httpMethod is not supported.
var accessLogVariables = map[string]variable{
	"$context.extendedRequestId":      func(r *request) string { return r.extendedID },
	"$context.requestId":              func(r *request) string { return r.id },
	"$context.requestTimeEpoch":       func(r *request) string { return strconv.FormatInt(r.start.UnixMilli(), 10) },
	"$context.status":                 func(r *request) string { return strconv.Itoa(r.status) },
	"$context.responseLatency":        func(r *request) string { return strconv.FormatInt(r.latency.Milliseconds(), 10) },
	"$context.authorizer.principalId": func(r *request) string { return r.principal },
	"$context.error.responseType":     func(r *request) string { return r.errorType },
	"$context.identity.sourceIp":      func(r *request) string { return r.sourceIP },
	"$context.resourcePath": func(r *request) string {
		if r.resource == nil {
			return ""
		}
		return r.resource.path
	},
}

// variableName matches a variable, and a $ that begins none.
var variableName = regexp.MustCompile(`\$[\w.]*`)

// template is a text with variables. API Gateway escapes nothing in it.
type template struct {
	literals []string // one more than variables
	values   []variable
}

func newTemplate(text string, supported map[string]variable) (template, error) {
	t := template{literals: variableName.Split(text, -1)}
	for _, name := range variableName.FindAllString(text, -1) {
		value, ok := supported[name]
		if !ok {
			return t, fmt.Errorf("%s is not supported, only %s", name, strings.Join(slices.Sorted(maps.Keys(supported)), ", "))
		}
		t.values = append(t.values, value)
	}
	return t, nil
}

// fill returns the text with the request's values. unset replaces a variable without a value.
func (t template) fill(r *request, unset string) string {
	var b strings.Builder
	for i, value := range t.values {
		b.WriteString(t.literals[i])
		if text := value(r); text != "" {
			b.WriteString(text)
		} else {
			b.WriteString(unset)
		}
	}
	b.WriteString(t.literals[len(t.values)])
	return b.String()
}
