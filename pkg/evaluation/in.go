package evaluation

import "toggleadmin/pkg/toggle"

// set is the condition of IN and of NOT_IN: a set of texts.
type set map[string]struct{}

func compileSet(c *toggle.Constraint) condition { return newSet(c.Values) }

func newSet(values []string) set {
	s := make(set, len(values))
	for _, value := range values {
		s[value] = struct{}{}
	}
	return s
}

func (s set) holds(value string) bool {
	_, ok := s[value]
	return ok
}
