package gateway

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// variables has the functions that return the values of $context variables. A variable without a value is empty.
//
// An access log format may use only these variables. No value contains text that a client writes, because values are
// not escaped: a client could add properties to the line, or push properties beyond its end. For this reason
// $context.httpMethod is not supported.
var variables = map[string]func(*request) string{
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

// checkVariables returns an error for a text with a variable that is not supported.
func checkVariables(text string, supported ...string) error {
	for _, name := range variableName.FindAllString(text, -1) {
		if !slices.Contains(supported, name) {
			return fmt.Errorf("%s is not supported, only %s", name, strings.Join(supported, ", "))
		}
	}
	return nil
}

// fill replaces the variables of a text by the request's values, which API Gateway does not escape. unset replaces a
// variable without a value.
func (r *request) fill(text, unset string) string {
	return variableName.ReplaceAllStringFunc(text, func(name string) string { return cmp.Or(variables[name](r), unset) })
}
