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
	attributeRequestID        = "requestId"
	attributeExpires          = "expiresAt" // the table's time to live, in seconds since 1970
	attributeLast             = "last"      // in the marker of a deleted subject: the id of its last event
)

// FromItem returns the event that an item contains. It returns false for the marker of a deleted subject, and for an
// item that prevents a transaction.
func FromItem(item dynamo.Item) (Event, bool) {
	e := Event{
		ID: item.Int(AttributeID), Type: Type(item.String(AttributeType)), Subject: Subject(item.String(AttributeSubject)),
		By: Actor{
			Name:    item.String(AttributeCreatedBy),
			UserID:  item.Int(AttributeCreatedByUserID),
			TokenID: item.String(AttributeCreatedByTokenID),
		},
		RequestID: item.String(attributeRequestID), Project: item.String(AttributeProject),
		FeatureName: item.String(AttributeFeatureName), Environment: item.String(AttributeEnvironment),
	}
	if data := item.String(AttributeData); data != "" {
		e.Data = json.RawMessage(data)
	}
	if preData := item.String(AttributePreData); preData != "" {
		e.PreData = json.RawMessage(preData)
	}
	return e, e.Type != ""
}

// Properties returns the properties of the data of an event, with numbers as json.Number; nil: none. It returns an error
// if the data are not a JSON object.
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
