package evaluation

import (
	"regexp"
	"sync"
)

// expression returns a function that compiles a regular expression when it is called first. To compile all expressions
// of this package takes 0.4 ms, which would make each start of a function longer.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
