package samtemplate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

type parameter struct {
	Type           string
	Default        any
	AllowedValues  []any
	AllowedPattern string
	MinValue       *float64
	MaxValue       *float64
	MaxLength      *int

	Description, ConstraintDescription ignored
}

// readParameters chooses the value of each parameter: the given one or the default.
func (r *reader) readParameters(given map[string]string) {
	section := get(r.document.root, "Parameters")
	var declared map[string]parameter
	r.decode(section, &declared)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := declared[name]; !ok {
			r.fail(section, "the template has no parameter %s", name)
		}
	}
	for key := range pairs(section) {
		r.within = key.Value
		p := declared[key.Value]
		value, ok := given[key.Value]
		switch {
		case ok:
		case p.Default == nil:
			r.fail(key, "the parameter has no default: set a value")
		default:
			value = fmt.Sprint(p.Default)
		}
		if problem := p.check(value); problem != "" {
			r.fail(key, "the value %q is not valid: %s", value, problem)
		}
		r.parameters[key.Value] = value
	}
}

// check compares a value with the parameter's constraints. It returns an empty text if the value is valid.
func (p *parameter) check(value string) string {
	isValue := func(allowed any) bool { return fmt.Sprint(allowed) == value }
	if p.AllowedValues != nil && !slices.ContainsFunc(p.AllowedValues, isValue) {
		return fmt.Sprintf("it must be one of %v", p.AllowedValues)
	}
	if ok, err := regexp.MatchString(`^(?:`+p.AllowedPattern+`)$`, value); p.AllowedPattern != "" && !ok || err != nil {
		return "it must match " + p.AllowedPattern
	}
	if p.MaxLength != nil && len(value) > *p.MaxLength {
		return fmt.Sprintf("it must have at most %d characters", *p.MaxLength)
	}
	number, err := strconv.ParseFloat(value, 64)
	if p.Type == "Number" && (err != nil || p.MinValue != nil && number < *p.MinValue || p.MaxValue != nil &&
		number > *p.MaxValue) {
		return "it must be a number within MinValue and MaxValue"
	}
	return ""
}
