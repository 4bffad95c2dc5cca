package dynamo_test

import (
	"math"
	"testing"
	"time"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

func TestAttributes(t *testing.T) {
	t.Parallel()
	item := dynamo.Item{
		"string": dynamo.S("x"), "zero": dynamo.N(0), "number": dynamo.N(math.MinInt64), "bytes": dynamo.B([]byte("b")),
		"true": dynamo.Bool(true), "false": dynamo.Bool(false), "map": dynamo.M(dynamo.Item{"a": dynamo.S("b")}),
		"strings": dynamo.Strings([]string{"a", ""}), "empty": dynamo.Strings(nil),
		"time": dynamo.Time(time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.FixedZone("", 3600))),
	}
	for name, want := range map[string]read{
		"string":  {String: "x"},
		"zero":    {},
		"number":  {Int: math.MinInt64},
		"bytes":   {Bytes: "b"},
		"true":    {Bool: true},
		"false":   {},
		"map":     {Map: 1},
		"strings": {Strings: []string{"a", ""}},
		"empty":   {},
		"time": {
			String: "2026-11-21T09:00:00.123Z",
			Time:   new(time.Date(2026, 11, 21, 9, 0, 0, 123_000_000, time.UTC)),
		},
		"absent": {},
	} {
		assert.Equal(t, want, read{
			String:  item.String(name),
			Int:     item.Int(name),
			Bytes:   string(item.Bytes(name)),
			Bool:    item.Bool(name),
			Map:     len(item.Map(name)),
			Strings: item.Strings(name),
			Time:    item.Time(name),
		})
	}
}

// read is what the methods of an item return for an attribute.
type read struct {
	String  string
	Int     int64
	Bytes   string
	Bool    bool
	Map     int // the number of attributes
	Strings []string
	Time    *time.Time
}
