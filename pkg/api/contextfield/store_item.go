package contextfield

import (
	"strings"
	"time"

	"toggleadmin/pkg/platform/dynamo"
)

// hash is the table's partition key: the name of a field, or another key, which contains a #. A name has no #.
const hash = "name"

// itemKey is the key of an item.
type itemKey struct {
	Name string `dynamodbav:"name"`
}

// record is the item of a field, without its references.
type record struct {
	itemKey
	Description *string            `dynamodbav:"description,omitempty"`
	Stickiness  bool               `dynamodbav:"stickiness"`
	SortOrder   int64              `dynamodbav:"sortOrder"`
	LegalValues []legalValueRecord `dynamodbav:"legalValues,omitempty"`
	CreatedAt   *time.Time         `dynamodbav:"createdAt,omitempty"`
	LastEvent   int64              `dynamodbav:"event,omitempty"`
}

// legalValueRecord is a legal value in the item of a field.
type legalValueRecord struct {
	Value       string  `dynamodbav:"value"`
	Description *string `dynamodbav:"description,omitempty"`
}

func key(name string) dynamo.Item { return dynamo.Marshal(itemKey{name}) }

// IsField reports whether an item of the table is that of a field.
func IsField(item dynamo.Item) bool { return !strings.Contains(item.String(hash), "#") }

// toItem returns the item of a field without its references.
func toItem(f ContextField) dynamo.Item {
	stored := record{
		itemKey:     itemKey{f.Name},
		Description: f.Description,
		Stickiness:  f.Stickiness,
		SortOrder:   f.SortOrder,
		CreatedAt:   f.CreatedAt,
		LastEvent:   f.LastEvent,
	}
	for _, v := range f.LegalValues {
		stored.LegalValues = append(stored.LegalValues, legalValueRecord(v))
	}
	return dynamo.Marshal(stored)
}

// fromItem returns a field without its references.
func fromItem(item dynamo.Item) (ContextField, error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return ContextField{}, err
	}
	f := ContextField{
		Name:        stored.Name,
		Description: stored.Description,
		Stickiness:  stored.Stickiness,
		SortOrder:   stored.SortOrder,
		CreatedAt:   stored.CreatedAt,
		LastEvent:   stored.LastEvent,
	}
	for _, v := range stored.LegalValues {
		f.LegalValues = append(f.LegalValues, LegalValue(v))
	}
	return f, nil
}
