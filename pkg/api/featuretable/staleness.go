package featuretable

import (
	"fmt"
	"hash/fnv"
	"io"
)

// IndexStaleness is the staleness index. It contains the toggles that can become stale. AttributeStaleness is its
// partition key, and AttributeCreatedAt its sort key.
const (
	IndexStaleness     = "staleness"
	AttributeStaleness = "staleness" // a StalenessKey
)

// Shards is the number of partitions per type and flag in the staleness index.
const Shards = 16

// Shard returns the partition of a toggle: FNV-1a 32 of its name modulo Shards.
func Shard(name string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name) // never fails
	return int(h.Sum32() % Shards)
}

// StalenessKey returns the partition key, in the staleness index, of a type's toggles in a shard.
func StalenessKey(featureType string, potentiallyStale bool, shard int) string {
	flag := "fresh"
	if potentiallyStale {
		flag = "potentially-stale"
	}
	return fmt.Sprintf("%s#%s#%d", featureType, flag, shard)
}
