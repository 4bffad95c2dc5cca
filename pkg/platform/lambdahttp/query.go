package lambdahttp

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/datetime"
)

// Query reads the query parameters of an operation that defines some, and collects what is wrong with them. Each
// parameter can be sent once. Parameters that are not read are ignored. A Query is not safe for concurrent use.
type Query struct {
	values     url.Values
	violations []apierror.Detail
}

// NewQuery returns the query parameters of a request.
func NewQuery(r *http.Request) *Query {
	return QueryOf(apigateway.RequestFrom(r.Context()).Query)
}

// QueryOf returns query parameters that are no part of a request.
func QueryOf(values url.Values) *Query { return &Query{values: values} }

// Err returns the 400 that names everything that is wrong, or nil.
func (q *Query) Err() error {
	return apierror.InvalidIfAny(q.violations)
}

// Reject adds what is wrong with a parameter. expected completes "The `/query/name` parameter …".
func (q *Query) Reject(name, expected string) {
	q.violations = append(q.violations,
		apierror.At("/query/"+name, "%s", expected).Sent(strings.Join(q.values[name], " and ")))
}

// Has reports whether a parameter was sent.
func (q *Query) Has(name string) bool { return len(q.values[name]) > 0 }

// once returns a parameter. ok is false if it was not sent once.
func (q *Query) once(name string) (text string, ok bool) {
	switch sent := q.values[name]; len(sent) {
	case 0:
		return "", false
	case 1:
		return sent[0], true
	}
	q.Reject(name, "must be sent once")
	return "", false
}

// Is reports whether a parameter was sent once, with this text.
func (q *Query) Is(name, text string) bool { return slices.Equal(q.values[name], []string{text}) }

// Text returns a parameter of at most a number of characters, or "" if it was not sent.
func (q *Query) Text(name string, maximum int) string {
	text, _ := q.once(name)
	if utf8.RuneCountInString(text) > maximum {
		q.Reject(name, fmt.Sprintf("must have at most %d characters", maximum))
	}
	return text
}

// OneOf returns a parameter that is one of the values, or the first of them if it was not sent.
func (q *Query) OneOf(name string, values ...string) string {
	text, ok := q.once(name)
	if ok && slices.Contains(values, text) {
		return text
	}
	if ok {
		q.Reject(name, "must be "+strings.Join(values, " or "))
	}
	return values[0]
}

// Operand returns the operator and the value of a parameter such as IS:value, or "" if it was not sent.
func (q *Query) Operand(name string, operators ...string) (operator, value string) {
	text, ok := q.once(name)
	if !ok {
		return "", ""
	}
	for _, o := range operators {
		if value, ok := strings.CutPrefix(text, o+":"); ok && value != "" {
			return o, value
		}
	}
	q.Reject(name, "must begin with "+strings.Join(operators, ": or ")+": and have a value")
	return "", ""
}

// maxValues is the maximum number of values of a parameter. DynamoDB's operator IN accepts 100.
const maxValues = 100

// Values returns the operator and the values of a parameter. An operator that ends with _OF or _ALL has values
// that commas separate; another has one.
func (q *Query) Values(name string, operators ...string) (operator string, values []string) {
	operator, value := q.Operand(name, operators...)
	if !strings.HasSuffix(operator, "_OF") && !strings.HasSuffix(operator, "_ALL") {
		if operator == "" {
			return "", nil
		}
		return operator, []string{value}
	}
	if values = strings.Split(value, ","); len(values) > maxValues {
		q.Reject(name, fmt.Sprintf("must have at most %d values", maxValues))
		return "", nil
	}
	if slices.Contains(values, "") {
		q.Reject(name, "must not have an empty value")
		return "", nil
	}
	return operator, values
}

// Day returns the operator and the date of a parameter such as IS:2026-11-22, in UTC, or the zero time if it was not
// sent.
func (q *Query) Day(name string, operators ...string) (operator string, day time.Time) {
	operator, value := q.Operand(name, operators...)
	if operator == "" {
		return "", time.Time{}
	}
	day, err := time.Parse(time.DateOnly, value)
	if err != nil || day.Year() < 1 {
		q.Reject(name, "must be "+strings.Join(operators, ": or ")+": and a date such as 2026-11-22")
		return "", time.Time{}
	}
	return operator, day
}

// Time returns a parameter that is a date-time, or the zero time if it was not sent.
func (q *Query) Time(name string) time.Time {
	text, ok := q.once(name)
	if !ok {
		return time.Time{}
	}
	t, err := datetime.Parse(text)
	if err != nil {
		q.Reject(name, "must be an RFC 3339 date-time with an offset or Z")
	}
	return t
}

// Number returns an integer from minimum to maximum, or defaultValue if it was not sent.
func (q *Query) Number(name string, defaultValue, minimum, maximum int) int {
	text, ok := q.once(name)
	if !ok {
		return defaultValue
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < minimum || n > maximum || strconv.Itoa(n) != text {
		q.Reject(name, fmt.Sprintf("must be an integer from %d to %d", minimum, maximum))
		return defaultValue
	}
	return n
}
