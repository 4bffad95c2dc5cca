package toggle

import (
	"errors"
	"regexp"
	"strings"
	"unicode"
)

// The values of a new toggle for which none is sent. The project exists even without toggles.
const (
	DefaultProject = "default"
	DefaultType    = "release"
)

// NamePattern is the regular expression of a name that can be a segment of a path. Clients remove the segments . and ..
// from a path, even if these are percent-encoded (RFC 3986, section 5.2.4). The schemas of bodies have the same pattern.
const NamePattern = `^(\.*[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\.{3,})$`

var namePattern = regexp.MustCompile(NamePattern)

// ReservedName cannot be the name of a toggle, because /api/admin/archive/revive is the path of an operation.
const ReservedName = "revive"

// ReservedStrategyID cannot be the id of a strategy, because …/strategies/set-sort-order is the path of an operation.
const ReservedStrategyID = "set-sort-order"

var (
	errName        = errors.New("use 1 to 100 letters, digits and . _ ~ -, but not . or .. alone")
	errFeatureName = errors.New("use 1 to 100 letters, digits and . _ ~ -, but not ., .. or revive")
)

// CheckName returns nil if a project, a context field or a type can have the name. Otherwise the error says what is
// permitted.
func CheckName(name string) error {
	if len(name) > MaxName || !namePattern.MatchString(name) {
		return errName
	}
	return nil
}

// CheckFeatureName returns nil if a toggle can have the name. Otherwise the error says what is permitted.
func CheckFeatureName(name string) error {
	if CheckName(name) != nil || name == ReservedName {
		return errFeatureName
	}
	return nil
}

// IsStrategyID reports whether a strategy can have the id.
func IsStrategyID(id string) bool { return CheckName(id) == nil && id != ReservedStrategyID }

// IsReadable reports whether a text for people has a visible character and no control characters.
func IsReadable(text string) bool {
	isVisible := func(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsSpace(c) }
	return strings.ContainsFunc(text, isVisible) && !strings.ContainsFunc(text, unicode.IsControl)
}
