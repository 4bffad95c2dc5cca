package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// A write that depends on all resources fails if the version has changed since it was read, also if there was none.
func TestTableVersion(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	version := dynamo.NewTableVersion(db.Client, db.Tables["Segments"], "id")
	write := func(action types.TransactWriteItem) (failed bool) {
		failures, err := dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{action})
		assert.OK(t, err)
		return failures != nil
	}
	get := func() dynamo.Item {
		item, err := version.Get(t.Context())
		assert.OK(t, err)
		return item
	}
	none := get()
	assert.Equal(t, 0, len(none))
	assert.Equal(t, false, write(version.NextAfter(none, dynamo.Item{"lastId": dynamo.N(7)})))
	assert.Equal(t, true, write(version.NextAfter(none, nil)))
	first := get()
	assert.Equal(t, int64(7), first.Int("lastId"))
	assert.Equal(t, false, write(version.NextAfter(first, nil)))
	second := get()
	assert.Equal(t, false, write(version.Next()))
	assert.Equal(t, true, write(version.NextAfter(second, nil)))
}
