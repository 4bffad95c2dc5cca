package eventlog

import "github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

// HasLast returns the condition that the last event of a subject is last. If last is 0, the condition is also true if
// there is no item.
func HasLast(last int64) expression.ConditionBuilder {
	if last == 0 {
		return expression.Name(AttributeEvent).AttributeNotExists()
	}
	return expression.Name(AttributeEvent).Equal(expression.Value(last))
}

// ExistsWithLast returns the condition that the item of a subject exists and that its last event is last. hash names
// the table's partition key.
func ExistsWithLast(hash string, last int64) expression.ConditionBuilder {
	if last == 0 {
		return expression.Name(hash).AttributeExists().And(HasLast(0))
	}
	return HasLast(last)
}

// SetLast returns the update that sets the last event of a subject to id.
func SetLast(id int64) expression.UpdateBuilder {
	return expression.Set(expression.Name(AttributeEvent), expression.Value(id))
}
