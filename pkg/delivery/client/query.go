package client

import (
	"iter"
	"net/url"
	"strings"
	"unicode/utf8"
)

// parseQuery returns the parameters of a query in their order. It is as lenient as Unleash: only & divides parameters,
// and a name or a value whose escapes cannot be decoded is what was sent. Go's parser rejects a query because of one
// unescaped character.
func parseQuery(raw string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for parameter := range strings.SplitSeq(raw, "&") {
			name, value, _ := strings.Cut(parameter, "=")
			if parameter != "" && !yield(unescape(name), unescape(value)) {
				return
			}
		}
	}
}

func unescape(text string) string {
	text = strings.ReplaceAll(text, "+", " ")
	if decoded, err := url.PathUnescape(text); err == nil && utf8.ValidString(decoded) {
		return decoded
	}
	return text
}
