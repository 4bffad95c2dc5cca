package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
)

func TestSize(t *testing.T) {
	t.Parallel()
	item := dynamo.Item{
		"text":   dynamo.S("é"),                                             // 4 + 2
		"binary": dynamo.B([]byte{1, 2, 3}),                                 // 6 + 3
		"number": dynamo.N(7),                                               // 6 + 21
		"flag":   dynamo.Bool(true),                                         // 4 + 1
		"map":    dynamo.M(dynamo.Item{"a": dynamo.S("")}),                  // 3 + 3 + 1 + 1
		"list":   dynamo.Strings([]string{"ab", "c"}),                       // 4 + 3 + 1 + 2 + 1 + 1
		"names":  &types.AttributeValueMemberSS{Value: []string{"ab", "c"}}, // 5 + 3 + 1 + 2 + 1 + 1
		"ids":    &types.AttributeValueMemberNS{Value: []string{"7", "8"}},  // 3 + 3 + 2*(1+21)
	}
	assert.Equal(t, 6+9+27+5+8+12+13+50, item.Size())
}
