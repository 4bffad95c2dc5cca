package counting

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/delivery/usage"
)

// The limits of what a report can contain. Longer names are cut.
const (
	maxName    = 200               // characters
	maxCount   = 1_000_000_000_000 // of one entry
	noInstance = "default"         // the id of an instance that sends none, as in Unleash
	noVariant  = "disabled"        // the variant that SDKs report of a toggle without one

	applicationOFREP = "ofrep" // that of an evaluation whose context has none
)

// The properties of reports that are counted. SDKs send some of them as null, in other types, or not at all, and a
// property that makes no sense must not make the rest of a report worthless.
type (
	// sentReport is the body of POST /api/client/metrics and /api/client/register, and of those of the frontend API.
	sentReport struct {
		AppName string `json:"appName"`
		sentInstance
		Bucket lenient[sentBucket] `json:"bucket"`
	}

	sentInstance struct {
		InstanceID sentText            `json:"instanceId"`
		SDKVersion sentText            `json:"sdkVersion"`
		Strategies lenient[[]sentText] `json:"strategies"`
	}

	sentBucket struct {
		Stop    lenient[sentTime]                       `json:"stop"`
		Toggles lenient[map[string]lenient[sentCounts]] `json:"toggles"`
	}

	sentCounts struct {
		Yes      sentNumber                     `json:"yes"`
		No       sentNumber                     `json:"no"`
		Variants lenient[map[string]sentNumber] `json:"variants"`
	}

	// sentBulk is the body of POST /api/client/metrics/bulk.
	sentBulk struct {
		Applications []lenient[sentApplication] `json:"applications"`
		Metrics      []lenient[sentMetric]      `json:"metrics"`
	}

	sentApplication struct {
		AppName     sentText `json:"appName"`
		Environment sentText `json:"environment"`
		SDKType     sentText `json:"sdkType"`
		sentInstance
	}

	sentMetric struct {
		FeatureName sentText          `json:"featureName"`
		AppName     sentText          `json:"appName"`
		Environment sentText          `json:"environment"`
		Timestamp   lenient[sentTime] `json:"timestamp"`
		sentCounts
	}
)

// lenient is a property that is zero if it was not sent in the form of T.
type lenient[T any] struct{ value T }

// UnmarshalJSON implements json.Unmarshaler. It returns no error.
func (l *lenient[T]) UnmarshalJSON(text []byte) error {
	var value T
	if json.Unmarshal(text, &value) == nil {
		l.value = value
	}
	return nil
}

// sentText is a text, and empty if it was not sent as one.
type sentText string

// UnmarshalJSON implements json.Unmarshaler. It returns no error.
func (t *sentText) UnmarshalJSON(text []byte) error {
	var value string
	if json.Unmarshal(text, &value) == nil {
		*t = sentText(value)
	}
	return nil
}

// sentTime is a date-time in RFC 3339, or a number of milliseconds since 1970.
type sentTime struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (t *sentTime) UnmarshalJSON(text []byte) error {
	if ms, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		t.Time = time.UnixMilli(ms)
		return nil
	}
	return json.Unmarshal(text, &t.Time)
}

// sentNumber is a number of evaluations, or a text with one. It is -1 if it makes no sense.
type sentNumber int64

// UnmarshalJSON implements json.Unmarshaler. It returns no error.
func (n *sentNumber) UnmarshalJSON(text []byte) error {
	var number json.Number // of a number, or of a text that is one
	if string(text) == "null" {
		return nil
	}
	*n = -1
	if json.Unmarshal(text, &number) == nil {
		value, err := number.Float64()
		if err == nil && value >= 0 && value <= maxCount && value == math.Trunc(value) {
			*n = sentNumber(value)
		}
	}
	return nil
}

// counts returns what was counted of a toggle. ok is false if it is nothing, or makes no sense.
func (c sentCounts) counts() (counts usage.Counts, ok bool) {
	if c.Yes < 0 || c.No < 0 || c.Yes+c.No == 0 {
		return usage.Counts{}, false
	}
	counts = usage.Counts{Yes: int64(c.Yes), No: int64(c.No)}
	for name, n := range c.Variants.value {
		if n > 0 {
			if counts.Variants == nil {
				counts.Variants = map[string]int64{}
			}
			counts.Variants[cut(name)] += int64(n)
		}
	}
	return counts, true
}

// cut shortens a name to its maximum length. The names . and .. get underscores: clients remove them from the path of a
// URL, so that nothing with these names could be asked for.
func cut(name string) string {
	if name == "." || name == ".." {
		return strings.Repeat("_", len(name))
	}
	n := 0
	for i := range name {
		if n == maxName {
			return name[:i]
		}
		n++
	}
	return name
}
