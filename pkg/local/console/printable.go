package console

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable makes a text safe to show: one line, no control or direction characters, valid UTF-8, at most so many characters.
func printable(text string, most int) string {
	var b strings.Builder
	for i, n := 0, 0; i < len(text); n++ {
		if n == most {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// redactor hides the secret of every token in a line, also of one that is percent-encoded, and JSON web tokens.
type redactor struct{ tokens, webTokens *regexp.Regexp }

func newRedactor() redactor {
	return redactor{
		tokens:    regexp.MustCompile(`(v2(?:_|%5[Ff])[A-Za-z0-9_-]{22}(?:_|%5[Ff]))[A-Za-z0-9_-]+`), // the part before the secret is none
		webTokens: regexp.MustCompile(`eyJ[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?`),
	}
}

func (r redactor) redact(line []byte) []byte {
	if bytes.Contains(line, []byte("v2")) {
		line = r.tokens.ReplaceAll(line, []byte("${1}[redacted]"))
	}
	if bytes.Contains(line, []byte("eyJ")) {
		line = r.webTokens.ReplaceAll(line, []byte("[redacted]"))
	}
	return line
}
