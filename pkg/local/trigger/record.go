package trigger

import (
	"reflect"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// changes reports whether a record is of a change. The local engine also creates a record for a write that leaves the
// item as it was; DynamoDB does not.
func changes(r *types.Record) bool {
	before, after := r.Dynamodb.OldImage, r.Dynamodb.NewImage
	return r.EventName != types.OperationTypeModify || before == nil || !reflect.DeepEqual(before, after)
}

// record returns the record of a Lambda event.
func (s *stream) record(r *types.Record) events.DynamoDBEventRecord {
	return events.DynamoDBEventRecord{
		EventID: aws.ToString(r.EventID), EventName: string(r.EventName), EventVersion: "1.1", EventSource: "aws:dynamodb",
		AWSRegion: s.Region, EventSourceArn: s.eventSourceARN,
		Change: events.DynamoDBStreamRecord{
			ApproximateCreationDateTime: events.SecondsEpochTime{Time: aws.ToTime(r.Dynamodb.ApproximateCreationDateTime)},
			Keys:                        item(r.Dynamodb.Keys),
			NewImage:                    item(r.Dynamodb.NewImage),
			OldImage:                    item(r.Dynamodb.OldImage),
			SequenceNumber:              aws.ToString(r.Dynamodb.SequenceNumber),
			SizeBytes:                   aws.ToInt64(r.Dynamodb.SizeBytes),
			StreamViewType:              string(r.Dynamodb.StreamViewType),
		},
	}
}

func item(attributes map[string]types.AttributeValue) map[string]events.DynamoDBAttributeValue {
	all := make(map[string]events.DynamoDBAttributeValue, len(attributes))
	for name, value := range attributes {
		all[name] = attribute(value)
	}
	return all
}

func attribute(value types.AttributeValue) events.DynamoDBAttributeValue {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return events.NewStringAttribute(v.Value)
	case *types.AttributeValueMemberN:
		return events.NewNumberAttribute(v.Value)
	case *types.AttributeValueMemberB:
		return events.NewBinaryAttribute(v.Value)
	case *types.AttributeValueMemberBOOL:
		return events.NewBooleanAttribute(v.Value)
	case *types.AttributeValueMemberSS:
		return events.NewStringSetAttribute(v.Value)
	case *types.AttributeValueMemberNS:
		return events.NewNumberSetAttribute(v.Value)
	case *types.AttributeValueMemberBS:
		return events.NewBinarySetAttribute(v.Value)
	case *types.AttributeValueMemberM:
		return events.NewMapAttribute(item(v.Value))
	case *types.AttributeValueMemberL:
		list := make([]events.DynamoDBAttributeValue, 0, len(v.Value))
		for _, element := range v.Value {
			list = append(list, attribute(element))
		}
		return events.NewListAttribute(list)
	}
	return events.NewNullAttribute() // NULL is the only type that remains
}
