package samtemplate

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parameters gives each parameter its value: the setting or the default, held against the parameter's own rules.
func parameters(section *node, given map[string]string) (map[string]*node, error) {
	values := map[string]*node{}
	if section != nil {
		if section.kind != dict {
			return nil, section.errorf("must be a map")
		}
		for _, name := range section.keys {
			value, err := parameter(section.fields[name], name, given)
			if err != nil {
				return nil, err
			}
			values[name] = value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := values[name]; !ok {
			at := &node{line: 1, path: "Parameters"}
			if section != nil {
				at = section
			}
			return nil, at.errorf("there is no parameter %q", name)
		}
	}
	return values, nil
}

func parameter(n *node, name string, given map[string]string) (*node, error) {
	d := &decoder{}
	o := d.object(n)
	typ := o.needText("Type")
	value, preset := o.optionalText("Default")
	rule := rules{
		allowed: o.texts("AllowedValues"), pattern: o.text("AllowedPattern"),
		least: o.text("MinValue"), most: o.text("MaxValue"), shortest: o.text("MinLength"), longest: o.text("MaxLength"),
	}
	o.notPlayed("Description", "ConstraintDescription", "NoEcho")
	o.done()
	if d.err != nil {
		return nil, d.err
	}
	if setting, ok := given[name]; ok {
		value, preset = setting, true
	}
	if !preset {
		return nil, n.errorf("has no default: give the parameter a value")
	}
	switch typ {
	case "String", "Number":
		if err := rule.check(n, typ, value); err != nil {
			return nil, err
		}
		return n.like(value), nil
	case "CommaDelimitedList":
		values := &node{kind: list, line: n.line, path: n.path}
		for item := range strings.SplitSeq(value, ",") {
			item = strings.TrimSpace(item)
			if err := rule.check(n, typ, item); err != nil {
				return nil, err
			}
			values.items = append(values.items, n.like(item))
		}
		return values, nil
	}
	return nil, n.errorf("the parameter type %s is not known", typ)
}

// rules are what a parameter's value must keep; empty ones do not bind.
type rules struct {
	allowed                        []string
	pattern                        string
	least, most, shortest, longest string
}

func (r rules) check(n *node, typ, value string) error {
	if len(r.allowed) > 0 && !slices.Contains(r.allowed, value) {
		return n.errorf("%q is not allowed: only %s", value, strings.Join(r.allowed, ", "))
	}
	if r.pattern != "" {
		pattern, err := regexp.Compile(`^(?:` + r.pattern + `)$`)
		if err != nil {
			return n.errorf("AllowedPattern: %v", err)
		}
		if !pattern.MatchString(value) {
			return n.errorf("%q does not match AllowedPattern %s", value, r.pattern)
		}
	}
	if typ == "Number" {
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return n.errorf("%q is no number", value)
		}
		if err := between(n, "MinValue", "MaxValue", r.least, r.most, number); err != nil {
			return err
		}
	}
	return between(n, "MinLength", "MaxLength", r.shortest, r.longest, float64(utf8.RuneCountInString(value)))
}

// between holds a number or a length against its bounds.
func between(n *node, lowName, highName, low, high string, value float64) error {
	if low != "" {
		if bound, err := strconv.ParseFloat(low, 64); err != nil || value < bound {
			return n.errorf("%v is below %s %s", value, lowName, low)
		}
	}
	if high != "" {
		if bound, err := strconv.ParseFloat(high, 64); err != nil || value > bound {
			return n.errorf("%v is above %s %s", value, highName, high)
		}
	}
	return nil
}
