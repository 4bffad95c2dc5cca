// Package snapshottable is the form of snapshots in the table Snapshots, and reading the table. pkg/background/compiler
// is the only writer of the table.
//
// The table contains, for each environment, a pointer to the current snapshot, and the parts of this snapshot and of
// earlier ones. The parts of a snapshot are written before its pointer and never change. Their keys contain the epoch and
// the version of the snapshot, and random digits: each compilation has parts of its own. So two processes that compile
// the same version do not overwrite one another's parts, even if their programs compress differently, and a snapshot
// never uses parts that are about to be deleted.
package snapshottable

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "Snapshots"

// Attributes of the table.
const (
	AttributeEnvironment = "environment" // the partition key
	AttributeItem        = "item"        // the sort key
	AttributeEpoch       = "epoch"
	AttributeRevision    = "revision"
	AttributeCovers      = "covers"
	attributeCreatedAt   = "createdAt" // of a part
)

const (
	pointerItem = "current" // the sort key of a pointer
	partPrefix  = "part#"   // of the sort keys of parts
)

// maxPart is the maximum size of the content of a part, in bytes. The rest of dynamo.MaxItem is for the other
// attributes.
const maxPart = 380_000

// Format is the number of the form of snapshots: of the parts, the versions and the document. Increase it when an earlier
// program would misread what this one writes. Programs do not read a snapshot of another format, and the compiler
// replaces it. The format, epoch, version and revision of a pointer are the same in all formats.
const Format = 1

// Pointer says which snapshot of an environment is the current one.
type Pointer struct {
	Environment string    `dynamodbav:"environment"`
	Format      int       `dynamodbav:"format"`
	Epoch       string    `dynamodbav:"epoch"`
	Version     int64     `dynamodbav:"version"`
	Revision    int64     `dynamodbav:"revision"`   // how often the pointer was written in the epoch
	Hash        string    `dynamodbav:"hash"`       // of the document
	PartsID     string    `dynamodbav:"partsId"`    // random digits in the keys of the parts
	Parts       int       `dynamodbav:"parts"`      // the number of parts without those of the tags
	TagParts    int       `dynamodbav:"tagParts"`   // the number of parts of the tags, which follow; 0: without tags
	Size        int       `dynamodbav:"size"`       // of the body that the tables result in, delivered or not, in bytes
	CompiledAt  time.Time `dynamodbav:"compiledAt"` // when the snapshot was published
	Covers      time.Time `dynamodbav:"covers"`     // all changes that were committed before are in the snapshot
	CheckedAt   time.Time `dynamodbav:"checkedAt"`  // when everything was read last, and not only what events concern
}

// key is the key of an item.
type key struct {
	Environment string `dynamodbav:"environment"`
	Item        string `dynamodbav:"item"`
}

// pointerRecord is the item of a pointer.
type pointerRecord struct {
	Pointer
	Item string `dynamodbav:"item"`
}

// HasTags reports whether the snapshot has the tags of its toggles. One of an earlier version of the service has none.
func (p Pointer) HasTags() bool { return p.TagParts > 0 }

// part is the item of a part. The first part contains the versions, and the others contain the body, then the tags.
type part struct {
	key
	CreatedAt time.Time `dynamodbav:"createdAt"`
	Content   []byte    `dynamodbav:"content"`
}

// PointerKey returns the key of the pointer of an environment.
func PointerKey(environment string) dynamo.Item { return dynamo.Marshal(key{environment, pointerItem}) }

// MarshalPointer returns the item of a pointer, in this format.
func MarshalPointer(p Pointer) dynamo.Item {
	p.Format = Format
	return dynamo.Marshal(pointerRecord{p, pointerItem})
}

// UnmarshalPointer reads a pointer from its item.
func UnmarshalPointer(item dynamo.Item) (Pointer, error) {
	var stored pointerRecord
	err := dynamo.Unmarshal(item, &stored)
	return stored.Pointer, err
}

// MarshalParts returns the items of the parts of a snapshot, and how many of them, at the end, are those of its tags. No
// other parts have the id. Earlier versions of the service read the others only.
func MarshalParts(s snapshot.Snapshot, id string, now time.Time) (all []dynamo.Item, ofTags int, err error) {
	versions, err := json.Marshal(s.Versions)
	if err != nil {
		return nil, 0, err
	}
	first, err := snapshot.Compress(versions)
	if err != nil {
		return nil, 0, err
	}
	tags := slices.Collect(slices.Chunk(s.Tags, maxPart))
	contents := slices.Concat([][]byte{first}, slices.Collect(slices.Chunk(s.Body, maxPart)), tags)
	parts := make([]dynamo.Item, len(contents))
	for i, content := range contents {
		parts[i] = dynamo.Marshal(part{
			key:       key{s.Environment, partName(s.Epoch, s.Version, id, i)},
			CreatedAt: now,
			Content:   content,
		})
	}
	return parts, len(tags), nil
}

func partName(epoch string, version int64, id string, i int) string {
	return partNames(epoch, version, id) + strconv.Itoa(i)
}

// partNames returns what the names of the parts of a snapshot have in common.
func partNames(epoch string, version int64, id string) string {
	return fmt.Sprintf("%s%s.%d#%s#", partPrefix, epoch, version, id)
}

// IsPointer reports whether an item of the table is a pointer.
func IsPointer(item dynamo.Item) bool { return item.String(AttributeItem) == pointerItem }

// BelongsTo reports whether an item of the table is a pointer or a part of its snapshot.
func BelongsTo(item dynamo.Item, p Pointer) bool {
	return IsPointer(item) || strings.HasPrefix(item.String(AttributeItem), partNames(p.Epoch, p.Version, p.PartsID))
}

// WrittenBefore reports whether a part was written before a time.
func WrittenBefore(item dynamo.Item, t time.Time) bool {
	written := item.Time(attributeCreatedAt)
	return written != nil && written.Before(t)
}

// ErrUnreadable reports that a snapshot has another format, or that a part of it does not exist or cannot be read. In the
// second case, another snapshot has replaced it, or the part was lost: the service does not delete or change parts of a
// current snapshot.
var ErrUnreadable = errors.New("cannot be read")

func (p Pointer) unreadable(format string, args ...any) error {
	return fmt.Errorf("the snapshot %d of the environment %q %w: %w", p.Version, p.Environment, ErrUnreadable,
		fmt.Errorf(format, args...))
}

// UnmarshalParts returns the snapshot of a pointer from its parts, in any order. Other items are ignored. Its error is
// ErrUnreadable if the pointer has another format, a part is not among the items, or the versions cannot be read.
func UnmarshalParts(p Pointer, items []dynamo.Item) (snapshot.Snapshot, error) {
	if p.Format != Format {
		return snapshot.Snapshot{}, p.unreadable("it has the format %d, and this version of the service reads %d", p.Format,
			Format)
	}
	contents := map[string][]byte{}
	for _, item := range items {
		if !BelongsTo(item, p) || IsPointer(item) {
			continue
		}
		var stored part
		if err := dynamo.Unmarshal(item, &stored); err != nil {
			return snapshot.Snapshot{}, err
		}
		contents[stored.Item] = stored.Content
	}
	s := snapshot.Snapshot{Environment: p.Environment, Epoch: p.Epoch, Version: p.Version}
	for i := range p.Parts + p.TagParts {
		content, ok := contents[partName(p.Epoch, p.Version, p.PartsID, i)]
		if !ok {
			return snapshot.Snapshot{}, p.unreadable("its part %d of %d is missing", i+1, p.Parts+p.TagParts)
		}
		switch {
		case i >= p.Parts:
			s.Tags = append(s.Tags, content...)
			continue
		case i > 0:
			s.Body = append(s.Body, content...)
			continue
		}
		text, err := snapshot.Decompress(content)
		if err == nil {
			err = json.Unmarshal(text, &s.Versions)
		}
		if err != nil {
			return snapshot.Snapshot{}, p.unreadable("its first part is damaged: %w", err)
		}
	}
	return s, nil
}
