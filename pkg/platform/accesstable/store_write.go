package accesstable

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/dynamo"
)

// attributeLast is the attribute of a counter with the last id that was used.
const attributeLast = "last"

// NextID returns an id for a new role or group that none has had, and the action of a transaction that uses it. The
// action fails if the id was used in the meantime. Ids of custom roles follow those of the fixed ones.
func (s *Reader) NextID(ctx context.Context, kind Kind) (id int64, use types.TransactWriteItem, err error) {
	key := Key(KindCounter, string(kind))
	item, err := dynamo.Get(ctx, s.client, s.table, key)
	if err != nil {
		return 0, use, fmt.Errorf("get the counter of ids of the kind %s: %w", kind, err)
	}
	last := item.Int(attributeLast)
	id = last + 1
	if kind == KindRole {
		id = max(id, int64(access.FirstCustomRole))
	}
	attribute := expression.Name(attributeLast)
	condition := attribute.AttributeNotExists()
	if last != 0 {
		condition = attribute.Equal(expression.Value(last))
	}
	return id, dynamo.UpdateItem(s.table, key, expression.NewBuilder().
		WithCondition(condition).
		WithUpdate(expression.Set(attribute, expression.Value(id)))), nil
}

// keyProtections is the key of the counter that rises with each change of the protection of an environment of a project.
func keyProtections() dynamo.Item { return Key(KindCounter, "protection") }

// Protections returns the number of changes of the protections of all projects. Read it before the projects.
func (s *Reader) Protections(ctx context.Context) (int64, error) {
	items, err := dynamo.GetAll(ctx, s.client, s.table, []dynamo.Item{keyProtections()})
	if err != nil || len(items) == 0 {
		return 0, err
	}
	return items[0].Int(attributeLast), nil
}

// CountProtection returns the action of a transaction that changes the protection of an environment of a project. It
// needs no condition: the write of the project has one.
func CountProtection(table string) types.TransactWriteItem {
	return dynamo.UpdateItem(table, keyProtections(), expression.NewBuilder().
		WithUpdate(expression.Add(expression.Name(attributeLast), expression.Value(1))))
}

// SameProtections returns the condition that no protection has changed since Protections returned n.
func SameProtections(table string, n int64) types.TransactWriteItem {
	last := expression.Name(attributeLast)
	condition := last.AttributeNotExists()
	if n != 0 {
		condition = last.Equal(expression.Value(n))
	}
	return dynamo.CheckItem(table, keyProtections(), condition)
}

// attributeAssignments is the attribute of a custom role that rises each time somebody gets the role, so that a deletion
// at the same time fails.
const attributeAssignments = "assignments"

// AssignRole returns the action of a transaction that gives a custom role to an account or a group, as the root role or
// in a project. It fails if the role does not exist.
func (s *Reader) AssignRole(id access.Role) types.TransactWriteItem {
	return dynamo.UpdateItem(s.table, RoleKey(id), expression.NewBuilder().
		WithCondition(expression.Name(Hash).AttributeExists()).
		WithUpdate(expression.Add(expression.Name(attributeAssignments), expression.Value(1))))
}

// Assignments returns how often somebody got a custom role. Read it before who has the role.
func (s *Reader) Assignments(ctx context.Context, id access.Role) (int64, error) {
	item, err := dynamo.Get(ctx, s.client, s.table, RoleKey(id))
	if err != nil {
		return 0, fmt.Errorf("get the role %d: %w", id, err)
	}
	return item.Int(attributeAssignments), nil
}

// HasAssignments returns the condition that nobody got a custom role since Assignments was read.
func HasAssignments(n int64) expression.ConditionBuilder {
	attribute := expression.Name(attributeAssignments)
	if n == 0 {
		return attribute.AttributeNotExists()
	}
	return attribute.Equal(expression.Value(n))
}
