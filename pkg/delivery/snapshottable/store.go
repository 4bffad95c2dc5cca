package snapshottable

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/platform/dynamo"
)

// ReadPointer returns the pointer of an environment. It is one consistent read. It returns false if there is none.
func ReadPointer(ctx context.Context, client *dynamodb.Client, table, environment string) (Pointer, bool, error) {
	item, err := dynamo.Get(ctx, client, table, PointerKey(environment))
	if err != nil || item == nil {
		return Pointer{}, false, err
	}
	p, err := UnmarshalPointer(item)
	return p, err == nil, err
}

// Load reads the snapshot of a pointer. Its error is ErrMissing if a part does not exist.
func Load(ctx context.Context, client *dynamodb.Client, table string, p Pointer) (snapshot.Snapshot, error) {
	keys := make([]dynamo.Item, p.Parts)
	for i := range keys {
		keys[i] = dynamo.Marshal(key{p.Environment, partName(p.Epoch, p.Version, p.Hash, i)})
	}
	items, err := dynamo.GetAll(ctx, client, table, keys)
	if err != nil {
		return snapshot.Snapshot{}, fmt.Errorf("read the snapshot %d of the environment %q: %w",
			p.Version, p.Environment, err)
	}
	return UnmarshalParts(p, items)
}
