package dynamo_test

import (
	"testing"

	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func TestCount(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	update := dynamo.Count(db.Tables["Users"], dynamo.Item{"id": dynamo.N(0)}, "lastId", 2)
	for want := range int64(2) {
		out, err := db.Client.UpdateItem(t.Context(), update)
		assert.OK(t, err)
		assert.Equal(t, want+1, dynamo.Item(out.Attributes).Int("lastId"))
	}
	if _, err := db.Client.UpdateItem(t.Context(), update); !dynamo.FailedCondition(err) {
		t.Error(err)
	}
}
