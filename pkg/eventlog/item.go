package eventlog

import (
	"bytes"
	"encoding/json"

	"toggleadmin/pkg/platform/dynamo"
)

// Attributes of the table Events and of its index subjects.
const (
	AttributeShard            = "shard" // the partition key
	AttributeID               = "id"    // the sort key
	AttributeType             = "type"
	AttributeSubject          = "subject" // the partition key of the index subjects
	AttributeCreatedBy        = "createdBy"
	AttributeCreatedByUserID  = "createdByUserId"
	AttributeCreatedByTokenID = "createdByTokenId"
	AttributeProject          = "project"
	AttributeFeatureName      = "featureName"
	AttributeEnvironment      = "environment"
	AttributeData             = "data"
	AttributePreData          = "preData"
	attributeLast             = "last" // in the marker of a deleted subject: the id of its last event
)

// key is the key of an item of the table.
type key struct {
	Shard string `dynamodbav:"shard"`
	ID    int64  `dynamodbav:"id"`
}

// record is the item of an event. An item without a type only prevents a transaction (Log.prevent).
type record struct {
	key
	Type             Type    `dynamodbav:"type,omitempty"`
	Subject          Subject `dynamodbav:"subject,omitempty"`
	CreatedBy        string  `dynamodbav:"createdBy,omitempty"` // unless it is a user
	CreatedByUserID  int64   `dynamodbav:"createdByUserId,omitempty"`
	IsServiceAccount bool    `dynamodbav:"createdByServiceAccount,omitempty"`
	CreatedByTokenID string  `dynamodbav:"createdByTokenId,omitempty"`
	RequestID        string  `dynamodbav:"requestId,omitempty"`
	Project          string  `dynamodbav:"project,omitempty"`
	FeatureName      string  `dynamodbav:"featureName,omitempty"`
	Environment      string  `dynamodbav:"environment,omitempty"`
	Data             string  `dynamodbav:"data,omitempty"`
	PreData          string  `dynamodbav:"preData,omitempty"`
	PermittedBy
	ChangeRequest int64  `dynamodbav:"changeRequestId,omitempty"`
	Reason        string `dynamodbav:"reason,omitempty"`
	ExpiresAt     int64  `dynamodbav:"expiresAt,omitempty"` // the table's time to live, in seconds since 1970
}

// prevention is the item that prevents a transaction.
type prevention struct {
	key
	ExpiresAt int64 `dynamodbav:"expiresAt"`
}

// marker is the item with the id of the last event of a deleted subject, and the project to which it belonged.
type marker struct {
	key
	Last      int64  `dynamodbav:"last"`
	Project   string `dynamodbav:"project,omitempty"`
	ExpiresAt int64  `dynamodbav:"expiresAt,omitempty"`
}

// markerKey returns the key of the marker of a deleted subject.
func markerKey(s Subject) key { return key{Shard: markerPrefix + string(s)} }

const markerPrefix = "deleted#"

// FromItem returns the event that an item contains. It returns false for another item, such as the marker of a deleted
// subject.
func FromItem(item dynamo.Item) (Event, bool) {
	var stored record
	if err := dynamo.Unmarshal(item, &stored); err != nil || stored.Type == "" {
		return Event{}, false
	}
	return Event{
		ID:      stored.ID,
		Type:    stored.Type,
		Subject: stored.Subject,
		By: Actor{Name: stored.CreatedBy, UserID: stored.CreatedByUserID, IsServiceAccount: stored.IsServiceAccount,
			TokenID: stored.CreatedByTokenID},
		RequestID:   stored.RequestID,
		Project:     stored.Project,
		FeatureName: stored.FeatureName,
		Environment: stored.Environment,
		Data:        rawJSON(stored.Data),
		PreData:     rawJSON(stored.PreData),
		PermittedBy: stored.PermittedBy,
		Reason:      stored.Reason,

		ChangeRequest: stored.ChangeRequest,
	}, true
}

func rawJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// Properties returns the properties of the data of an event, with numbers as json.Number; nil: none. It returns an
// error if the data are not a JSON object.
func Properties(data json.RawMessage) (map[string]any, error) {
	var properties map[string]any
	if len(data) == 0 {
		return properties, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err := d.Decode(&properties)
	return properties, err
}
