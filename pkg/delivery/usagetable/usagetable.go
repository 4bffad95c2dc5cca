// Package usagetable is the form of usage in the table Usage, and reading the table. pkg/delivery/counting writes what
// the processes of functions/client count, and pkg/background/usagemerger everything else.
//
// The table has these partitions:
//
//   - One for each hour, with the parts that processes wrote: the tallies, the presences and the requests. A part has a
//     random id, belongs to one process, only grows, and is overwritten as a whole, so that a repeated write counts
//     nothing twice. What frontend tokens report is in parts of its own. Parts are kept for four days. Counts are
//     accepted for the last 24 hours, so that an hour can get parts until then.
//   - One for each toggle, with a record for each hour and environment: the sum of the tallies. It is computed from all
//     parts of the hour each time, never added to, so that it can be repeated and interrupted. Records are kept for 90
//     days.
//   - One for each application, with a record for each hour and environment: what it used. One with the names that
//     no toggle has. These records, too, are computed from all parts of the hour. They are kept for four days.
//   - One with a marker for each merged hour. The marker names the parts that were merged, by a fingerprint, so that an
//     hour with a later part is merged again. It has no fingerprint if a part could not be read, so that the hour is
//     merged again, too. An hour without a marker is read from its parts.
//   - One with the hours that got parts after they had ended, so that those that were merged before are merged again.
//   - One with the applications.
package usagetable

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/platform/dynamo"
)

// Table is the logical id of the table.
const Table = "Usage"

// Attributes of the table.
const (
	AttributePartition = "partition" // the partition key
	AttributeItem      = "item"      // the sort key
	AttributeExpiresAt = "expiresAt" // the time to live, in seconds since 1970

	attributeEnvironment = "environment"

	// AttributeWrites is how often the part was written. Records have the sum over the parts that they were computed
	// from.
	AttributeWrites = "writes"
)

// The times for which usage is kept.
const (
	PartsKept   = 4 * 24 * time.Hour  // parts and markers, after their hour began
	RecordsKept = 90 * 24 * time.Hour // records of toggles, and applications after their last report

	// Accepted is how long ago an hour can have begun that still gets counts.
	Accepted = 24 * time.Hour
)

// hourFormat is the form of hours in keys. Its order is that of time.
const hourFormat = "2006-01-02T15"

const (
	mergedPartition       = "merged"
	applicationsPartition = "applications"
	unknownPartition      = "unknown"
	latePartition         = "late"
)

func hourPartition(hour time.Time) string    { return "hour#" + hour.UTC().Format(hourFormat) }
func featurePartition(feature string) string { return featurePrefix + feature }
func usePartition(application string) string { return usePrefix + application }

const (
	featurePrefix = "feature#"
	usePrefix     = "use#"
)

// Kind is the kind of a part.
type Kind string

// The kinds of parts. What applications with frontend tokens report is in parts of its own: these tokens are public,
// and nothing that is reported with them takes the place of what is reported with others.
const (
	KindTally            Kind = "tally"
	KindFrontendTally    Kind = "tally-frontend"
	KindPresence         Kind = "presence"
	KindFrontendPresence Kind = "presence-frontend"
	KindRequests         Kind = "requests"
)

// maxParts returns how many parts of a kind are read of an environment and hour. A process writes a few of each.
func maxParts(k Kind) int {
	switch k {
	case KindFrontendTally, KindFrontendPresence:
		return 200
	case KindTally, KindPresence:
		return 1_000
	default:
		return 10_000 // small ones
	}
}

// Part identifies a part, and says how it was written.
type Part struct {
	Kind        Kind
	Hour        time.Time // its start
	Environment string    // empty for KindRequests
	ID          string    // random
	Writes      int64     // how often the process has written the part, this time included
	WrittenAt   time.Time
}

// partRecord is the item of a part.
type partRecord struct {
	Partition   string    `dynamodbav:"partition"`
	Item        string    `dynamodbav:"item"` // <kind>#<environment>#<id>
	Environment string    `dynamodbav:"environment"`
	ID          string    `dynamodbav:"id"`
	Writes      int64     `dynamodbav:"writes"`
	WrittenAt   time.Time `dynamodbav:"writtenAt"`
	ExpiresAt   int64     `dynamodbav:"expiresAt"`
	Content     []byte    `dynamodbav:"content"` // a Tally, Presence or Requests in JSON and gzip
}

// MarshalPart returns the item of a part. The content is a usage.Tally, usage.Presence or usage.Requests, as the kind
// says.
func MarshalPart(p Part, content any) (dynamo.Item, error) {
	encoded, err := encode(content)
	if err != nil {
		return nil, err
	}
	return dynamo.Marshal(partRecord{
		Partition:   hourPartition(p.Hour),
		Item:        fmt.Sprintf("%s#%s#%s", p.Kind, p.Environment, p.ID),
		Environment: p.Environment,
		ID:          p.ID,
		Writes:      p.Writes,
		WrittenAt:   p.WrittenAt,
		ExpiresAt:   p.Hour.Add(PartsKept).Unix(),
		Content:     encoded,
	}), nil
}

func encode(content any) ([]byte, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return snapshot.Compress(text)
}

func decode(encoded []byte, into any) error {
	text, err := snapshot.Decompress(encoded)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// unmarshalPart reads a part of the hour and its content.
func unmarshalPart(item dynamo.Item, kind Kind, hour time.Time, content any) (Part, error) {
	var stored partRecord
	err := dynamo.Unmarshal(item, &stored)
	if err == nil {
		err = decode(stored.Content, content)
	}
	if err != nil {
		return Part{}, fmt.Errorf("read the part %s of the usage in the hour %s: %w", stored.Item, hour.Format(hourFormat), err)
	}
	return Part{
		Kind:        kind,
		Hour:        hour,
		Environment: stored.Environment,
		ID:          stored.ID,
		Writes:      stored.Writes,
		WrittenAt:   stored.WrittenAt,
	}, nil
}

// Fingerprint identifies the state of parts: it differs if one was added or written again. The order does not matter.
func Fingerprint(parts []Part) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = fmt.Sprintf("%s#%s#%s %d\n", p.Kind, p.Environment, p.ID, p.Writes)
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "")))
	return hex.EncodeToString(sum[:16])
}

// Writes returns how often parts were written, in total. It rises with each write of a part, so that of two states of
// the parts of an hour, the one with more writes is the later one.
func Writes(parts []Part) (n int64) {
	for _, p := range parts {
		n += p.Writes
	}
	return n
}

// markerRecord is the item that marks an hour as merged.
type markerRecord struct {
	Partition   string `dynamodbav:"partition"`
	Item        string `dynamodbav:"item"` // the hour
	Fingerprint string `dynamodbav:"fingerprint"`
	ExpiresAt   int64  `dynamodbav:"expiresAt"`
}

// MarshalMarker returns the item that marks an hour as merged from the parts of a fingerprint. The fingerprint is empty
// if a part could not be read.
func MarshalMarker(hour time.Time, fingerprint string) dynamo.Item {
	return dynamo.Marshal(markerRecord{
		Partition:   mergedPartition,
		Item:        hour.UTC().Format(hourFormat),
		Fingerprint: fingerprint,
		ExpiresAt:   hour.Add(PartsKept).Unix(),
	})
}

// Late is an hour that got a part after it had ended.
type Late struct {
	Hour time.Time
	At   time.Time // of the write of the part
	ID   string    // identifies the write
}

// lateRecord is the item of a Late.
type lateRecord struct {
	Partition string    `dynamodbav:"partition"`
	Item      string    `dynamodbav:"item"` // the hour
	At        time.Time `dynamodbav:"at"`
	ID        string    `dynamodbav:"id"`
	ExpiresAt int64     `dynamodbav:"expiresAt"`
}

// MarshalLate returns the item that says that the hour of a part got it after it had ended.
func MarshalLate(p Part) dynamo.Item {
	return dynamo.Marshal(lateRecord{
		Partition: latePartition,
		Item:      p.Hour.UTC().Format(hourFormat),
		At:        p.WrittenAt,
		ID:        fmt.Sprint(p.ID, " ", p.Writes),
		ExpiresAt: p.Hour.Add(PartsKept).Unix(),
	})
}

// LateKey returns the key of a late hour.
func LateKey(hour time.Time) dynamo.Item {
	return dynamo.Item{
		AttributePartition: dynamo.S(latePartition), AttributeItem: dynamo.S(hour.UTC().Format(hourFormat)),
	}
}

// Application is what is known of an application in all environments.
type Application struct {
	Name         string                         `dynamodbav:"-"`
	CreatedAt    time.Time                      `dynamodbav:"createdAt"` // of its first report
	SeenAt       time.Time                      `dynamodbav:"seenAt"`    // of its last report, at most ten minutes old
	Projects     []string                       `dynamodbav:"projects"`  // those of its tokens, sorted; *: all
	Strategies   []string                       `dynamodbav:"strategies"`
	Frontend     bool                           `dynamodbav:"frontend"`     // only frontend tokens have reported it
	Environments map[string]ApplicationInstance `dynamodbav:"environments"` // by name
}

// ApplicationInstance is what is known of the instances of an application in an environment.
type ApplicationInstance struct {
	SeenAt    time.Time `dynamodbav:"seenAt"`
	Instances int       `dynamodbav:"instances"` // in the last 24 hours before SeenAt
	SDKs      []string  `dynamodbav:"sdks"`      // names and versions, sorted
}

// applicationRecord is the item of an Application.
type applicationRecord struct {
	Application
	Partition string `dynamodbav:"partition"`
	Item      string `dynamodbav:"item"` // the name
	ExpiresAt int64  `dynamodbav:"expiresAt"`
}

// ApplicationKey returns the key of an application.
func ApplicationKey(name string) dynamo.Item {
	return dynamo.Item{AttributePartition: dynamo.S(applicationsPartition), AttributeItem: dynamo.S(name)}
}

// MarshalApplication returns the item of an application.
func MarshalApplication(a Application) dynamo.Item {
	return dynamo.Marshal(applicationRecord{a, applicationsPartition, a.Name, a.SeenAt.Add(RecordsKept).Unix()})
}

func unmarshalApplication(item dynamo.Item) (Application, error) {
	var stored applicationRecord
	if err := dynamo.Unmarshal(item, &stored); err != nil {
		return Application{}, fmt.Errorf("read an application: %w", err)
	}
	stored.Name = stored.Item
	return stored.Application, nil
}
