package eventsource

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// record is one stream record on its way.
type record struct {
	engine   string // the engine's sequence number
	sequence string // as the function sees it
	keys     []byte // as JSON
	made     time.Time
	event    json.RawMessage
	done     bool // see progress
}

// changesNothing finds what AWS makes no record of: a write that leaves the item as it was.
func changesNothing(r *types.Record) bool {
	d := r.Dynamodb
	return r.EventName == types.OperationTypeModify && d.OldImage != nil && reflect.DeepEqual(d.OldImage, d.NewImage)
}

// less compares sequence numbers, which are numbers of any length.
func less(a, b string) bool {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// digits is how many a sequence number of AWS has at least.
const digits = 21

// widen makes a sequence number look like AWS's, in the same order.
func widen(sequence string) string {
	if len(sequence) >= digits {
		return sequence
	}
	return "1" + strings.Repeat("0", digits-1-len(sequence)) + sequence
}

type eventJSON struct {
	EventID        string        `json:"eventID"`
	EventName      string        `json:"eventName"`
	EventVersion   string        `json:"eventVersion"`
	EventSource    string        `json:"eventSource"`
	AWSRegion      string        `json:"awsRegion"`
	DynamoDB       changeJSON    `json:"dynamodb"`
	UserIdentity   *identityJSON `json:"userIdentity,omitempty"`
	EventSourceARN string        `json:"eventSourceARN"`
}

type changeJSON struct {
	Created        int64           `json:"ApproximateCreationDateTime"`
	Keys           json.RawMessage `json:"Keys"`
	NewImage       map[string]any  `json:"NewImage,omitempty"`
	OldImage       map[string]any  `json:"OldImage,omitempty"`
	SequenceNumber string          `json:"SequenceNumber"`
	SizeBytes      int64           `json:"SizeBytes"`
	StreamViewType string          `json:"StreamViewType"`
}

type identityJSON struct {
	Type        string `json:"type"`
	PrincipalID string `json:"principalId"`
}

// record makes the event's record of a stream record.
func (m *Mapping) record(r *types.Record) (*record, error) {
	d := r.Dynamodb
	made := &record{engine: aws.ToString(d.SequenceNumber), made: aws.ToTime(d.ApproximateCreationDateTime)}
	made.sequence = widen(made.engine)
	keys, err := item(d.Keys)
	if err != nil {
		return nil, err
	}
	if made.keys, err = json.Marshal(keys); err != nil {
		return nil, err
	}
	id := sha256.Sum256([]byte(m.config.StreamARN + "\n" + made.sequence))
	event := eventJSON{
		EventID: hex.EncodeToString(id[:16]), EventName: string(r.EventName), EventVersion: "1.1", EventSource: "aws:dynamodb",
		AWSRegion: m.config.Region, EventSourceARN: m.config.EventARN,
		DynamoDB: changeJSON{
			Created: made.made.Unix(), Keys: made.keys, SequenceNumber: made.sequence, SizeBytes: aws.ToInt64(d.SizeBytes),
			StreamViewType: string(d.StreamViewType),
		},
	}
	if event.DynamoDB.NewImage, err = item(d.NewImage); err != nil {
		return nil, err
	}
	if event.DynamoDB.OldImage, err = item(d.OldImage); err != nil {
		return nil, err
	}
	if r.UserIdentity != nil {
		event.UserIdentity = &identityJSON{aws.ToString(r.UserIdentity.Type), aws.ToString(r.UserIdentity.PrincipalId)}
	}
	made.event, err = json.Marshal(event)
	return made, err
}

// item gives an item as DynamoDB's JSON has it; nil where there is none.
func item(attributes map[string]types.AttributeValue) (map[string]any, error) {
	if attributes == nil {
		return nil, nil //nolint:nilnil // no image
	}
	out := make(map[string]any, len(attributes))
	for name, v := range attributes {
		value, err := attribute(v)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		out[name] = value
	}
	return out, nil
}

func attribute(v types.AttributeValue) (any, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return map[string]string{"S": v.Value}, nil
	case *types.AttributeValueMemberN:
		return map[string]string{"N": v.Value}, nil
	case *types.AttributeValueMemberB:
		return map[string][]byte{"B": v.Value}, nil
	case *types.AttributeValueMemberBOOL:
		return map[string]bool{"BOOL": v.Value}, nil
	case *types.AttributeValueMemberNULL:
		return map[string]bool{"NULL": v.Value}, nil
	case *types.AttributeValueMemberSS:
		return map[string][]string{"SS": v.Value}, nil
	case *types.AttributeValueMemberNS:
		return map[string][]string{"NS": v.Value}, nil
	case *types.AttributeValueMemberBS:
		return map[string][][]byte{"BS": v.Value}, nil
	case *types.AttributeValueMemberL:
		list := make([]any, 0, len(v.Value))
		for _, element := range v.Value {
			value, err := attribute(element)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return map[string]any{"L": list}, nil
	case *types.AttributeValueMemberM:
		members, err := item(v.Value)
		return map[string]any{"M": members}, err
	}
	return nil, fmt.Errorf("the type %T is not known", v)
}

// payload is the event of a batch.
func payload(batch []*record) []byte {
	var b bytes.Buffer
	b.WriteString(`{"Records":[`)
	for i, r := range batch {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(r.event)
	}
	b.WriteString("]}")
	return b.Bytes()
}
