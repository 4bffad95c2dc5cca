package dynamo_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestAttributes(t *testing.T) {
	t.Parallel()
	item := dynamo.Item{
		"string": dynamo.S("x"), "zero": dynamo.N(0), "number": dynamo.N(math.MinInt64), "bytes": dynamo.B([]byte("b")),
		"true": dynamo.Bool(true), "false": dynamo.Bool(false), "map": dynamo.M(dynamo.Item{"a": dynamo.S("b")}),
		"strings": dynamo.Strings([]string{"a", ""}), "empty": dynamo.Strings(nil),
		"time": dynamo.Time(time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.FixedZone("", 3600))),
	}
	for _, row := range table.Rows(t, 9, `
		# attribute | as a string | number | whether it is one | bytes | boolean | sizes as a map and a list | strings | time
		string | x | 0 | false | | false | 0 0 | [] | <nil>
		zero | | 0 | true | | false | 0 0 | [] | <nil>
		number | | -9223372036854775808 | true | | false | 0 0 | [] | <nil>
		bytes | | 0 | false | b | false | 0 0 | [] | <nil>
		true | | 0 | false | | true | 0 0 | [] | <nil>
		false | | 0 | false | | false | 0 0 | [] | <nil>
		map | | 0 | false | | false | 1 0 | [] | <nil>
		strings | | 0 | false | | false | 0 2 | ["a" ""] | <nil>
		empty | | 0 | false | | false | 0 0 | [] | <nil>
		time | 2026-11-21T09:00:00.123Z | 0 | false | | false | 0 0 | [] | 2026-11-21 09:00:00.123 +0000 UTC
		absent | | 0 | false | | false | 0 0 | [] | <nil>
	`) {
		name := row[0]
		_, isNumber := item.IntOK(name)
		got := fmt.Sprintf("%s|%s|%d|%t|%s|%t|%d %d|%q|%v", name, item.String(name), item.Int(name), isNumber,
			item.Bytes(name), item.Bool(name), len(item.Map(name)), len(item.List(name)), item.Strings(name), item.Time(name))
		assert.Equal(t, strings.Join(row, "|"), got)
	}
}

// Sets are read sorted: DynamoDB does not keep their order.
func TestSets(t *testing.T) {
	t.Parallel()
	item := dynamo.Item{"names": dynamo.StringSet([]string{"b", "a"}), "ids": dynamo.NumberSet([]int64{12, 3, -1})}
	assert.Equal(t, []string{"a", "b"}, item.StringSet("names"))
	assert.Equal(t, []int64{-1, 3, 12}, item.NumberSet("ids"))
	assert.Equal(t, 0, len(item.StringSet("ids"))+len(item.NumberSet("names")))
}
