package clienttokentable

import (
	"fmt"
	"strings"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/toggle"
)

// The scopes that are no project.
const (
	AllProjects     = "*"
	severalProjects = "[]"
)

// Secret is a client token in plain text: SCOPE:ENVIRONMENT.v2_SELECTOR_RANDOM, or a text of another installation. Like
// its access.Body, it is redacted if it is printed or logged. Scope and environment are those of the text. What the token
// may read is in the stored Token, and Token.Verifies compares them.
type Secret struct {
	Scope string // a project, * for all, or [] for several
	// Environment of an imported secret is what its text seems to name, or empty. The token can have another one.
	Environment string
	Imported    bool // from another installation: without a scope, and the body is access.DigestBody of the text
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
	return Secret{Scope: scope, Environment: environment, Body: body}, true
}

// The limits of an imported secret, in characters.
const (
	minImported = 24
	maxImported = 512
)

// ParseImported reads a secret of another installation: visible ASCII characters. ok is false for texts of another length,
// for those that IsOfAdministration selects, and for those that end like a token of this service.
func ParseImported(text string) (s Secret, ok bool) {
	isHidden := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(text) < minImported || len(text) > maxImported || strings.ContainsFunc(text, isHidden) ||
		IsOfAdministration(text) {
		return Secret{}, false
	}
	if _, _, ownForm := access.CutBody(text); ownForm {
		return Secret{}, false
	}
	s = Secret{Imported: true, Body: access.DigestBody(text)}
	if end := strings.LastIndex(text, "."); end >= 0 { // as of Unleash: SCOPE:ENVIRONMENT.RANDOM
		if _, environment, ok := parsePrefix(text[:end+1]); ok {
			s.Environment = environment
		}
	}
	return s, true
}

// ImportedMust returns what a text that ParseImported rejects must be, for errors.
func ImportedMust() string {
	return fmt.Sprintf("must have %d to %d visible ASCII characters, and must not look like a token of this service, an API "+
		"token, a personal access token or a JSON Web Token", minImported, maxImported)
}

// ParseCredential reads the text of a client token of this service, or of another installation.
func ParseCredential(text string) (s Secret, ok bool) {
	if s, ok = ParseSecret(text); ok {
		return s, true
	}
	return ParseImported(text)
}

// IsOfAdministration reports whether a credential looks like one of the administration: a PAT, an API token, or a JSON
// Web Token. Whether it is valid is not looked up.
func IsOfAdministration(credential string) bool {
	return strings.HasPrefix(credential, "user:") || strings.HasPrefix(credential, "*:*.") ||
		strings.HasPrefix(credential, "eyJ") && strings.Count(credential, ".") == 2
}

// Reveal returns the token in plain text. The text of an imported one is not kept: it is empty.
func (s Secret) Reveal() string {
	if s.Imported {
		return ""
	}
	return prefix(s.Scope, s.Environment) + s.Body.Reveal()
}

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

// ParseID reads the result of Token.ID. It returns the selector. ok is false for other texts.
func ParseID(text string) (access.Selector, bool) {
	if s, ok := access.ParseSelector(text); ok {
		return s, true
	}
	at := strings.LastIndex(text, "."+access.Version)
	if at < 0 {
		return access.Selector{}, false
	}
	if _, _, ok := parsePrefix(text[:at+1]); !ok {
		return access.Selector{}, false
	}
	return access.ParseSelector(text[at+1+len(access.Version):])
}
