package clienttokentable

import (
	"strings"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
)

// The scopes that are no project.
const (
	AllProjects     = "*"
	severalProjects = "[]"
)

// Secret is a client token in plain text: SCOPE:ENVIRONMENT.v2_SELECTOR_RANDOM. Like its access.Body, it is redacted if
// it is printed or logged. Scope and environment are those of the text. What the token may read is in the stored Token,
// and Token.Verifies compares them.
type Secret struct {
	Scope       string // a project, * for all, or [] for several
	Environment string
	access.Body
}

// ParseSecret reads the text of a client token. Every token has exactly one spelling. ok is false for other texts,
// API tokens and PATs among them.
func ParseSecret(text string) (s Secret, ok bool) {
	before, body, ok := access.CutBody(text)
	if !ok {
		return Secret{}, false
	}
	scope, environment, ok := parsePrefix(before)
	if !ok {
		return Secret{}, false
	}
	return Secret{scope, environment, body}, true
}

// Reveal returns the token in plain text.
func (s Secret) Reveal() string { return prefix(s.Scope, s.Environment) + s.Body.Reveal() }

func prefix(scope, environment string) string { return scope + ":" + environment + "." }

// parsePrefix reads the result of prefix.
func parsePrefix(text string) (scope, environment string, ok bool) {
	text, ok = strings.CutSuffix(text, ".")
	if !ok {
		return "", "", false
	}
	scope, environment, ok = strings.Cut(text, ":")
	isScope := scope == AllProjects || scope == severalProjects || toggle.CheckName(scope) == nil
	return scope, environment, ok && isScope && toggle.CheckName(environment) == nil
}

// ParseListed reads the result of Token.Listed. It returns the selector. ok is false for other texts.
func ParseListed(text string) (access.Selector, bool) {
	at := strings.LastIndex(text, "."+access.Version)
	if at < 0 {
		return access.Selector{}, false
	}
	if _, _, ok := parsePrefix(text[:at+1]); !ok {
		return access.Selector{}, false
	}
	return access.ParseSelector(text[at+1+len(access.Version):])
}
