package evaluation_test

import (
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// difference is a kind of differences between an engine and pkg/evaluation. The service rejects what causes most of them.
type difference struct {
	kind     string
	explains func(*input) bool
}

// nodeDifferences are those of unleash-client 6.12, whatever the states and contexts are.
func nodeDifferences() []difference {
	return slices.Concat(nodeStoredDifferences(), []difference{
		{"parses dates as JavaScript does", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool { return c.isDate() && c.isUnusual() })
		}},
		{"parses numbers as JavaScript does", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool { return c.isNumber() && c.isUnusual() })
		}},
		{"removes blanks around values, and empty values", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool { return slices.ContainsFunc(c.Values, hasBlanks) })
		}},
		{"keeps blanks around a list of addresses", func(i *input) bool {
			return i.anyStrategy(func(s evaluation.Strategy) bool {
				addresses, ok := s.Parameters[toggle.ParameterIPs]
				return ok && hasBlanks(addresses)
			})
		}},
		{"accepts versions with a v, and rejects greater numbers", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool { return c.isVersion() && c.isUnusual() })
		}},
		{"ignores ids that are empty", func(i *input) bool {
			return i.anyID(func(id string) bool { return id == "" })
		}},
		{"evaluates old rollouts without a group", func(i *input) bool {
			return i.anyStrategy(func(s evaluation.Strategy) bool {
				_, hasGroup := s.Parameters[toggle.ParameterGroupID]
				return strings.HasPrefix(s.Name, "gradualRollout") && !hasGroup
			})
		}},
	})
}

// nodeStoredDifferences are those with states that the service stores, and contexts that applications send.
func nodeStoredDifferences() []difference {
	return []difference{
		{"compares the current time, whichever the field of a date", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool { return c.isDate() && c.ContextName != toggle.FieldCurrentTime })
		}},
		{"has no current time for other operators than those of dates", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool {
				return !c.isDate() && c.ContextName == toggle.FieldCurrentTime && !c.present
			})
		}},
		{"compares numbers exactly", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool {
				return c.Operator == toggle.OperatorNumEq && isNear(c.Value, c.value)
			})
		}},
		{"hashes texts that are not ASCII differently", func(i *input) bool {
			return i.anyID(func(id string) bool { return !isASCII(id) })
		}},
		{"compares texts in the type remoteAddress, and knows no IPv6", func(i *input) bool {
			address, err := netip.ParseAddr(i.fields[toggle.FieldRemoteAddress])
			return (err != nil || !address.Is4()) &&
				i.anyStrategy(func(s evaluation.Strategy) bool { return s.Name == toggle.StrategyRemoteAddress })
		}},
		{"does not fulfill a dependency on variants if the parent has none", func(i *input) bool {
			return i.parent.Enabled && i.parent.Variant == ""
		}},
	}
}

// yggdrasilDifferences are those of yggdrasil 0.21. There are none with states that the service delivers, and contexts
// that applications send.
func yggdrasilDifferences() []difference {
	return []difference{
		{"turns a toggle off that it cannot compile", func(i *input) bool { return i.broken }},
		{"evaluates values of another type", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool {
				return !evaluation.TakesValues(c.Operator) && c.Operator != toggle.OperatorRegex && isUnusual(c.Operator, c.Value)
			})
		}},
		{"has other regular expressions", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool {
				return c.Operator == toggle.OperatorRegex && evaluation.CheckValue(c.Operator, c.Value) != nil
			})
		}},
		{"has other digits, letters and words", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool {
				return c.Operator == toggle.OperatorRegex && strings.ContainsAny(c.Value, `\`) && !isASCII(c.value)
			})
		}},
		{"accepts zeros in front of the length of a prefix", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool { return slices.Contains(c.Values, "192.0.2.0/024") }) ||
				i.anyStrategy(func(s evaluation.Strategy) bool {
					return strings.Contains(s.Parameters[toggle.ParameterIPs], "192.0.2.0/024")
				})
		}},
		{"accepts infinite numbers", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool { return c.isNumber() && strings.HasSuffix(c.value, "inf") })
		}},
		{"accepts dates with a blank", func(i *input) bool {
			return i.anyConstraint(func(c constraint) bool { return c.isDate() && strings.Contains(c.value, " ") })
		}},
	}
}

// constraint is a constraint with the value of its field.
type constraint struct {
	toggle.Constraint
	value   string
	present bool
}

func (c constraint) isDate() bool    { return strings.HasPrefix(string(c.Operator), "DATE_") }
func (c constraint) isNumber() bool  { return strings.HasPrefix(string(c.Operator), "NUM_") }
func (c constraint) isVersion() bool { return strings.HasPrefix(string(c.Operator), "SEMVER_") }

// isUnusual reports whether the constraint or the field has a value that the service rejects in a constraint.
func (c constraint) isUnusual() bool {
	return isUnusual(c.Operator, c.Value) || c.present && isUnusual(c.Operator, c.value)
}

func isUnusual(operator toggle.Operator, value string) bool {
	return hasBlanks(value) || evaluation.CheckValue(operator, value) != nil
}

func hasBlanks(value string) bool {
	return value == "" || strings.TrimSpace(value) != value
}

// isNear reports whether two numbers differ, but hardly.
func isNear(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x != y && math.Abs(x-y) < 1e-15
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}
