package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// A failure is found under the name of its action.
func TestActions(t *testing.T) {
	t.Parallel()
	var actions dynamo.Actions
	actions.Add("none")
	actions.Add("first", types.TransactWriteItem{})
	actions.Add("others", types.TransactWriteItem{}, types.TransactWriteItem{})
	assert.Equal(t, 3, len(actions.List()))
	stored := dynamo.Item{"id": dynamo.S("x")}
	failed := actions.Failed([]dynamo.Failure{{}, {Failed: true, Item: stored}, {}})
	assert.Equal(t, map[string]dynamo.Failure{"others": {Failed: true, Item: stored}}, failed, database.Items())
	assert.Equal(t, map[string]dynamo.Failure{}, actions.Failed(nil))
}
