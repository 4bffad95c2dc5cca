package dynamo_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/platform/dynamo"
)

// values is one attribute as every reader returns it.
type values struct {
	String  string
	Int     int64
	IsInt   bool
	Bytes   string
	Bool    bool
	Map     int
	List    int
	Strings []string
	Time    *time.Time
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.FixedZone("", 3600))
	stored := time.Date(2026, 11, 21, 9, 0, 0, 123000000, time.UTC)
	item := dynamo.Item{
		"string": dynamo.S("x"), "zero": dynamo.N(0), "number": dynamo.N(math.MinInt64), "bytes": dynamo.B([]byte("b")),
		"true": dynamo.Bool(true), "false": dynamo.Bool(false), "map": dynamo.M(dynamo.Item{"a": dynamo.S("b")}),
		"strings": dynamo.Strings([]string{"a", ""}), "empty": dynamo.Strings(nil), "time": dynamo.Time(at),
	}
	for name, want := range map[string]values{
		"string":  {String: "x"},
		"zero":    {IsInt: true},
		"number":  {Int: math.MinInt64, IsInt: true},
		"bytes":   {Bytes: "b"},
		"true":    {Bool: true},
		"false":   {},
		"map":     {Map: 1},
		"strings": {List: 2, Strings: []string{"a", ""}},
		"empty":   {},
		"time":    {String: "2026-11-21T09:00:00.123Z", Time: &stored},
		"absent":  {},
	} {
		n, isInt := item.IntOK(name)
		got := values{
			String: item.String(name), Int: item.Int(name), IsInt: isInt, Bytes: string(item.Bytes(name)), Bool: item.Bool(name),
			Map: len(item.Map(name)), List: len(item.List(name)), Strings: item.Strings(name), Time: item.Time(name),
		}
		if diff := cmp.Diff(want, got); diff != "" || n != got.Int {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
