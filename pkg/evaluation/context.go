package evaluation

import (
	"time"

	"toggleadmin/pkg/toggle"
)

// Context is for whom toggles are evaluated, and when.
type Context struct {
	// Fields are the values of the fields that are present. An empty text is a value.
	Fields map[string]string

	// Now is the value of the field currentTime where Fields has none.
	Now time.Time

	// Random returns a random number from 0 to n-1, as rand.Uint32N of math/rand/v2 does. It is called where a stickiness
	// is random or has no field to use. It must not be nil.
	Random func(n uint32) uint32

	// HostName is the name of the application's host, for strategies of the type applicationHostname. Empty: unknown.
	HostName string
}

// field returns the value of a field, and whether it is present.
func (c *Context) field(name string) (string, bool) {
	value, ok := c.Fields[name]
	if !ok && name == toggle.FieldCurrentTime {
		return formatTime(c.Now), true
	}
	return value, ok
}

func formatTime(t time.Time) string {
	return t.UTC().Format(time.RFC3339)
}
