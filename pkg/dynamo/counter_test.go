package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/test/database"
)

func TestAdvance(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	key := dynamo.Item{"id": dynamo.N(0)}
	for _, tt := range []struct {
		last, next int64
		advanced   bool
	}{{1, 2, false}, {0, 2, true}, {0, 3, false}, {1, 3, false}, {2, 5, true}} {
		before := db.Get(t, db.Tables.Users, key).Int("lastId")
		failures, err := dynamo.Transact(t.Context(), db.Client, []types.TransactWriteItem{
			{Update: dynamo.Advance(db.Tables.Users, key, "lastId", tt.last, tt.next)},
		})
		after := db.Get(t, db.Tables.Users, key).Int("lastId")
		switch {
		case err != nil || (failures == nil) != tt.advanced:
			t.Errorf("from %d to %d: %v, %v", tt.last, tt.next, failures, err)
		case tt.advanced && after != tt.next:
			t.Errorf("from %d to %d: the counter is %d", tt.last, tt.next, after)
		case !tt.advanced && (after != before || failures[0].Item.Int("lastId") != before):
			t.Errorf("from %d to %d: the counter is %d, the failure is %v", tt.last, tt.next, after, failures)
		}
	}
}
