package evaluation

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"toggleadmin/pkg/toggle"
)

// versionCondition is the condition of SEMVER_EQ, SEMVER_GT, SEMVER_GTE, SEMVER_LT and SEMVER_LTE.
type versionCondition struct {
	operator toggle.Operator
	version  version
}

func compileVersion(c *toggle.Constraint) condition {
	v, ok := parseVersion(c.Value)
	if !ok {
		return never{}
	}
	return versionCondition{c.Operator, v}
}

func (c versionCondition) holds(value string) bool {
	v, ok := parseVersion(value)
	if !ok {
		return false
	}
	order := v.compare(c.version)
	switch c.operator {
	case toggle.OperatorSemverGt:
		return order > 0
	case toggle.OperatorSemverGte:
		return order >= 0
	case toggle.OperatorSemverLt:
		return order < 0
	case toggle.OperatorSemverLte:
		return order <= 0
	default:
		return order == 0
	}
}

var errVersion = errors.New("must be a semantic version such as 1.2.3 or 1.2.3-beta.1, without a v in front of it")

// maxVersionNumber is the greatest number in a version that the Node.js SDK accepts (node-semver).
const maxVersionNumber = 1<<53 - 1

func checkVersion(value string) error {
	v, ok := parseVersion(value)
	if !ok || max(v.major, v.minor, v.patch) > maxVersionNumber {
		return errVersion
	}
	return nil
}

// version is a semantic version (https://semver.org, 2.0.0) without its build metadata, which have no precedence.
type version struct {
	major, minor, patch uint64
	preRelease          string // empty: none
}

// parseVersion parses a semantic version, which has all three numbers.
func parseVersion(text string) (version, bool) {
	text, build, hasBuild := strings.Cut(text, "+")
	if hasBuild && !areIdentifiers(build) {
		return version{}, false
	}
	text, preRelease, hasPreRelease := strings.Cut(text, "-")
	if hasPreRelease && !isPreRelease(preRelease) {
		return version{}, false
	}
	majorText, rest, _ := strings.Cut(text, ".")
	minorText, patchText, _ := strings.Cut(rest, ".")
	major, isMajor := parseVersionNumber(majorText)
	minor, isMinor := parseVersionNumber(minorText)
	patch, isPatch := parseVersionNumber(patchText)
	return version{major, minor, patch, preRelease}, isMajor && isMinor && isPatch
}

func parseVersionNumber(text string) (uint64, bool) {
	if text == "" || !areDigits(text) || hasLeadingZero(text) {
		return 0, false
	}
	number, err := strconv.ParseUint(text, 10, 64)
	return number, err == nil
}

func hasLeadingZero(digits string) bool {
	return len(digits) > 1 && digits[0] == '0'
}

// areIdentifiers reports whether a text is a list of identifiers, separated by dots.
func areIdentifiers(text string) bool {
	for identifier := range strings.SplitSeq(text, ".") {
		if !isIdentifier(identifier) {
			return false
		}
	}
	return true
}

func isIdentifier(text string) bool {
	for _, c := range []byte(text) {
		isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		isDigit := '0' <= c && c <= '9'
		if !isLetter && !isDigit && c != '-' {
			return false
		}
	}
	return text != ""
}

// isPreRelease reports whether a text is a list of identifiers of which those that are numbers have no leading zero.
func isPreRelease(text string) bool {
	for identifier := range strings.SplitSeq(text, ".") {
		if !isIdentifier(identifier) || areDigits(identifier) && hasLeadingZero(identifier) {
			return false
		}
	}
	return true
}

// compare returns -1, 0 or 1 if the precedence of v is lower than, equal to or higher than that of the other version.
func (v version) compare(other version) int {
	return cmp.Or(
		cmp.Compare(v.major, other.major),
		cmp.Compare(v.minor, other.minor),
		cmp.Compare(v.patch, other.patch),
		comparePreReleases(v.preRelease, other.preRelease),
	)
}

func comparePreReleases(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "": // a release is later than its pre-releases
		return 1
	case b == "":
		return -1
	}
	firstA, restA, _ := strings.Cut(a, ".")
	firstB, restB, _ := strings.Cut(b, ".")
	if order := compareIdentifiers(firstA, firstB); order != 0 {
		return order
	}
	switch {
	case restA == "":
		return -1
	case restB == "":
		return 1
	default:
		return comparePreReleases(restA, restB)
	}
}

// compareIdentifiers compares two identifiers of pre-releases. Numbers are lower than other identifiers.
func compareIdentifiers(a, b string) int {
	numericA, numericB := areDigits(a), areDigits(b)
	switch {
	case numericA && numericB:
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) // without leading zeros
	case numericA:
		return -1
	case numericB:
		return 1
	default:
		return strings.Compare(a, b)
	}
}
