package usagetable

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/platform/dynamo"
)

// Record is the usage of a toggle in an hour and environment.
type Record struct {
	Feature      string
	Environment  string
	Hour         time.Time // its start
	Applications usage.ByApplication
}

// UseRecord is what an application used in an hour and environment.
type UseRecord struct {
	Application string
	Environment string
	Hour        time.Time // its start
	Features    []string  // names, sorted, also of what no toggle has
}

// UnknownRecord is the names that applications used in an hour and environment and that no toggle has.
type UnknownRecord struct {
	Environment string
	Hour        time.Time // its start
	Names       Unknown   // with backend tokens
	Frontend    Unknown   // with frontend tokens
}

// Unknown is when reports were last written, by a name without a toggle and the application.
type Unknown map[string]map[string]time.Time

// hourly is a record of an hour.
type hourly interface{ hour() time.Time }

func (r Record) hour() time.Time        { return r.Hour }
func (r UseRecord) hour() time.Time     { return r.Hour }
func (r UnknownRecord) hour() time.Time { return r.Hour }

func sortRecords(all []Record) {
	slices.SortFunc(all, func(a, b Record) int {
		return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Feature, b.Feature))
	})
}

// record is the item of a record.
type record struct {
	Partition   string `dynamodbav:"partition"`
	Item        string `dynamodbav:"item"` // <hour>#<environment>
	Environment string `dynamodbav:"environment"`
	ExpiresAt   int64  `dynamodbav:"expiresAt"`
	Content     []byte `dynamodbav:"content"` // in JSON and gzip
}

func marshal(partition, environment string, hour time.Time, kept time.Duration, content any) (dynamo.Item, error) {
	encoded, err := encode(content)
	if err != nil {
		return nil, err
	}
	return dynamo.Marshal(record{
		Partition:   partition,
		Item:        hour.UTC().Format(hourFormat) + "#" + environment,
		Environment: environment,
		ExpiresAt:   hour.Add(kept).Unix(),
		Content:     encoded,
	}), nil
}

// unmarshal reads the content of a record, and returns its environment and hour.
func unmarshal(item dynamo.Item, content any) (environment string, hour time.Time, err error) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return "", time.Time{}, err
	}
	text, _, _ := strings.Cut(stored.Item, "#")
	if hour, err = time.Parse(hourFormat, text); err == nil {
		err = decode(stored.Content, content)
	}
	if err != nil {
		return "", time.Time{}, fmt.Errorf("read the usage %s of %q: %w", stored.Item, stored.Partition, err)
	}
	return stored.Environment, hour, nil
}

// MarshalRecord returns the item of a record.
func MarshalRecord(r Record) (dynamo.Item, error) {
	return marshal(featurePartition(r.Feature), r.Environment, r.Hour, RecordsKept, r.Applications)
}

// UnmarshalRecord reads a record of a toggle.
func UnmarshalRecord(item dynamo.Item) (r Record, err error) {
	r.Feature = strings.TrimPrefix(item.String(AttributePartition), featurePrefix)
	r.Environment, r.Hour, err = unmarshal(item, &r.Applications)
	return r, err
}

// MarshalUse returns the item of a record of an application.
func MarshalUse(r UseRecord) (dynamo.Item, error) {
	return marshal(usePartition(r.Application), r.Environment, r.Hour, PartsKept, r.Features)
}

func unmarshalUse(item dynamo.Item) (r UseRecord, err error) {
	r.Application = strings.TrimPrefix(item.String(AttributePartition), usePrefix)
	r.Environment, r.Hour, err = unmarshal(item, &r.Features)
	return r, err
}

// MarshalUnknown returns the item of a record of names without a toggle.
func MarshalUnknown(r UnknownRecord) (dynamo.Item, error) {
	return marshal(unknownPartition, r.Environment, r.Hour, PartsKept, unknownContent{r.Names, r.Frontend})
}

// unknownContent is the content of an UnknownRecord.
type unknownContent struct {
	Names    Unknown `json:"n,omitempty"`
	Frontend Unknown `json:"f,omitempty"`
}

func unmarshalUnknown(item dynamo.Item) (UnknownRecord, error) {
	var content unknownContent
	environment, hour, err := unmarshal(item, &content)
	return UnknownRecord{environment, hour, content.Names, content.Frontend}, err
}
