package accesstable

import (
	"slices"
	"strconv"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// Directory is what the authorizer has to know of all groups and custom root roles, in one item. The transaction that
// writes a group or a custom root role writes the directory, too (Reader.Directory, Directory.Put).
type Directory struct {
	Groups  map[int64]GroupEntry
	Roles   map[access.Role][]access.Permission // of the custom root roles
	version int64                               // 0: it is not stored yet
}

// GroupEntry is a group in the directory.
type GroupEntry struct {
	RootRole access.Role // 0: none
	Mappings []string    // values of the claim of an ID token whose people belong to the group
}

// directoryRecord is the item of the directory. Permissions are stored by their ids, so that the item stays small.
type directoryRecord struct {
	itemKey
	Version int64                       `dynamodbav:"version"`
	Groups  map[string]groupEntryRecord `dynamodbav:"groups"`
	Roles   map[string][]int64          `dynamodbav:"roles"`
}

type groupEntryRecord struct {
	RootRole access.Role `dynamodbav:"rootRole,omitempty"`
	Mappings []string    `dynamodbav:"mappingsSSO,omitempty"`
}

// DirectoryKey returns the key of the directory.
func DirectoryKey() dynamo.Item { return Key(kindDirectory, string(kindDirectory)) }

// IsDirectory reports whether an item of the table is the directory.
func IsDirectory(item dynamo.Item) bool { return item.String(Hash) == string(kindDirectory) }

// UnmarshalDirectory reads the directory from its item, which is nil before it is written for the first time.
func UnmarshalDirectory(item dynamo.Item) (Directory, error) {
	d := Directory{Groups: map[int64]GroupEntry{}, Roles: map[access.Role][]access.Permission{}}
	if item == nil {
		return d, nil
	}
	var stored directoryRecord
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return Directory{}, err
	}
	d.version = stored.Version
	for text, entry := range stored.Groups {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Directory{}, err
		}
		d.Groups[id] = GroupEntry(entry)
	}
	for text, ids := range stored.Roles {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Directory{}, err
		}
		d.Roles[access.Role(id)] = access.PermissionsOf(ids)
	}
	return d, nil
}

// item returns the item of the next version.
func (d Directory) item() dynamo.Item {
	stored := directoryRecord{
		itemKey: itemKey{kindDirectory, string(kindDirectory)},
		Version: d.version + 1,
		Groups:  make(map[string]groupEntryRecord, len(d.Groups)),
		Roles:   make(map[string][]int64, len(d.Roles)),
	}
	for id, entry := range d.Groups {
		stored.Groups[strconv.FormatInt(id, 10)] = groupEntryRecord(entry)
	}
	for id, permissions := range d.Roles {
		stored.Roles[strconv.FormatInt(int64(id), 10)] = access.PermissionIDs(permissions)
	}
	return dynamo.Marshal(stored)
}

// Mapped returns those of the values of an ID token's claim that a group has, sorted.
func (d Directory) Mapped(claim []string) []string {
	var mapped []string
	for _, entry := range d.Groups {
		for _, value := range entry.Mappings {
			if slices.Contains(claim, value) {
				mapped = append(mapped, value)
			}
		}
	}
	slices.Sort(mapped)
	return slices.Compact(mapped)
}

// MembersGroups returns the groups with the ids, and those that have one of the values of an ID token's claim. Groups
// that do not exist are left out. They are ordered by id.
func (d Directory) MembersGroups(ids []int64, claim []string) []access.Group {
	var groups []access.Group
	for id, entry := range d.Groups {
		if slices.Contains(ids, id) ||
			slices.ContainsFunc(claim, func(value string) bool { return slices.Contains(entry.Mappings, value) }) {
			groups = append(groups, access.Group{ID: id, RootRole: entry.RootRole})
		}
	}
	slices.SortFunc(groups, func(a, b access.Group) int { return int(a.ID - b.ID) })
	return groups
}
