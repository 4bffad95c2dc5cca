package gateway

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// action is what a caller of the API does, in a policy's terms.
const action = "execute-api:invoke"

// policy is an authorizer's policy document.
type policy []statement

type statement struct {
	deny               bool
	actions, resources []string // with the wildcards * and ?
}

type decision int

const (
	unmatched decision = iota // nothing says yes: implicitly denied
	allowed
	denied // a Deny says no, whatever else says yes
)

// evaluate decides on one method.
func (p policy) evaluate(methodARN string) decision {
	result := unmatched
	for _, s := range p {
		if !s.matches(methodARN) {
			continue
		}
		if s.deny {
			return denied
		}
		result = allowed
	}
	return result
}

func (s statement) matches(methodARN string) bool {
	for _, a := range s.actions {
		if !match(strings.ToLower(a), action) { // actions have no letter case
			continue
		}
		for _, r := range s.resources {
			if match(r, methodARN) {
				return true
			}
		}
	}
	return false
}

// match tells whether a pattern with * (any text) and ? (any one byte) covers all of s.
func match(pattern, s string) bool {
	p, i := 0, 0
	star, from := -1, 0 // the last *, and where in s what it covers ends
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// readPolicy reads a policy document. Conditions and the Not… elements are not played: such a policy is refused, not misread.
func readPolicy(d *jsontext.Decoder) (policy, error) {
	var p policy
	err := readObject(d, func(name string) error {
		if name != "Statement" {
			return d.SkipValue()
		}
		p = nil
		return readOneOrMore(d, '{', func() error {
			s, err := readStatement(d)
			p = append(p, s)
			return err
		})
	})
	if err == nil && len(p) == 0 {
		err = errors.New("no statement")
	}
	if err != nil {
		return nil, fmt.Errorf("read the policy document: %w", err)
	}
	return p, nil
}

func readStatement(d *jsontext.Decoder) (statement, error) {
	var s statement
	effect := ""
	err := readObject(d, func(name string) (err error) {
		switch name {
		case "Effect":
			effect, err = readString(d)
		case "Action":
			s.actions, err = readStrings(d)
		case "Resource":
			s.resources, err = readStrings(d)
		case "Condition", "NotAction", "NotResource", "Principal", "NotPrincipal":
			if d.PeekKind() == 'n' {
				return d.SkipValue()
			}
			return fmt.Errorf("%s in a statement is not supported", name)
		default:
			err = d.SkipValue()
		}
		return err
	})
	if err != nil {
		return s, err
	}
	if effect != "Allow" && effect != "Deny" {
		return s, fmt.Errorf("effect %q is neither Allow nor Deny", effect)
	}
	if len(s.actions) == 0 || len(s.resources) == 0 {
		return s, errors.New("a statement lacks Action or Resource")
	}
	for _, r := range s.resources {
		if len(r) > maxPolicyARN {
			return s, fmt.Errorf("a resource is longer than %d characters", maxPolicyARN)
		}
	}
	s.deny = effect == "Deny"
	return s, nil
}
