package featuresearch

import (
	"slices"
	"strings"

	"toggleadmin/pkg/platform/spelling"
	"toggleadmin/pkg/toggle"
)

// Text is what a search looks for in names and descriptions. Letter case and Unicode form do not count.
type Text struct {
	terms [][]string // the words of each term, in the form of spelling.Key
}

// ParseText parses the text of a search. Commas separate terms, which are alternatives. White space separates the words
// of a term. Terms without words are ignored.
func ParseText(text string) Text {
	var t Text
	for term := range strings.SplitSeq(spelling.Key(text), ",") {
		if words := strings.Fields(term); len(words) > 0 {
			t.terms = append(t.terms, words)
		}
	}
	return t
}

// IsEmpty reports whether the text has no terms. It matches every toggle.
func (t Text) IsEmpty() bool { return len(t.terms) == 0 }

// Matches reports whether each word of a term is a part of the name or of the description of a toggle.
func (t Text) Matches(f toggle.Feature) bool {
	if t.IsEmpty() {
		return true
	}
	name, description := spelling.Key(f.Name), ""
	if f.Description != nil {
		description = spelling.Key(*f.Description)
	}
	return slices.ContainsFunc(t.terms, func(words []string) bool {
		return !slices.ContainsFunc(words, func(word string) bool {
			return !strings.Contains(name, word) && !strings.Contains(description, word)
		})
	})
}

// The relevance of a name to a word, in the order of a search.
const (
	isName = iota
	startsName
	isWordOfName
	otherRelevance
)

// relevance returns the relevance of a name to the text: to the term to which it is most relevant. Its relevance to a
// term is that to the word to which it is least relevant.
func (t Text) relevance(name string) int {
	name = spelling.Key(name)
	best := otherRelevance
	for _, words := range t.terms {
		least := isName
		for _, word := range words {
			least = max(least, relevance(name, word))
		}
		best = min(best, least)
	}
	return best
}

func relevance(name, word string) int {
	separators := strings.NewReplacer(".", "-", "_", "-", "~", "-")
	switch {
	case name == word:
		return isName
	case strings.HasPrefix(name, word):
		return startsName
	case strings.Contains("-"+separators.Replace(name)+"-", "-"+separators.Replace(word)+"-"):
		return isWordOfName
	}
	return otherRelevance
}
