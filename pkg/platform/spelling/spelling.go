// Package spelling compares texts without regard to letter case and Unicode form, and finds the name that a misspelled
// one probably means.
package spelling

import (
	"strings"
	"unicode"
	"unicode/utf8"

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

// maxCompared is the number of bytes of a text that is compared.
const maxCompared = 100

// Closest returns the name that differs from a text in the lowest number of inserted, deleted and replaced bytes,
// without regard to letter case. It returns "" if more than half of the longer one differs.
func Closest(text string, names []string) string {
	text = strings.ToLower(text[:min(len(text), maxCompared)])
	closest, least := "", 0
	for _, name := range names {
		d := distance(text, strings.ToLower(name))
		if 2*d <= max(len(text), len(name)) && (closest == "" || d < least) {
			closest, least = name, d
		}
	}
	return closest
}

// distance returns the Levenshtein distance of two texts, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the text so far to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
