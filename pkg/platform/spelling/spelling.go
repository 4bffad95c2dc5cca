// Package spelling compares texts without regard to letter case and Unicode form, and finds the name that a misspelled
// one probably means.
package spelling

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the same text for all spellings that strings.EqualFold considers equal: each character is replaced by
// the first one of those that differ only in letter case (Unicode simple case folding).
func Fold(text string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return unicode.ToUpper(r)
		}
		first := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			first = min(first, other)
		}
		return first
	}, text)
}

// Key returns the same text for all spellings that a search considers equal: those that differ in letter case or in
// Unicode form, such as "é" as one character or as "e" and a combining accent (Unicode Standard Annex 15).
func Key(text string) string { return Fold(norm.NFC.String(text)) }

// Contains reports whether a text contains another one, without regard to letter case and Unicode form.
func Contains(text, part string) bool { return strings.Contains(Key(text), Key(part)) }

// maxCompared is the number of characters of a text that are compared. It limits the time, because clients choose the text.
const maxCompared = 100

// Closest returns the name that differs from a text in the lowest number of inserted, deleted and replaced characters,
// without regard to letter case. It returns "" if more than half of the longer one differs.
func Closest(text string, names []string) string {
	characters := []rune(strings.ToLower(text))
	text = string(characters[:min(len(characters), maxCompared)])
	closest, least := "", 0
	for _, name := range names {
		distance := levenshtein.ComputeDistance(text, strings.ToLower(name))
		longer := max(utf8.RuneCountInString(text), utf8.RuneCountInString(name))
		if 2*distance <= longer && (closest == "" || distance < least) {
			closest, least = name, distance
		}
	}
	return closest
}
