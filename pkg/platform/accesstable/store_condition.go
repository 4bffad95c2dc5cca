package accesstable

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// closingTime is how long the mark of a project that is being archived or deleted prevents creations in it. It is longer
// than a request.
const closingTime = time.Minute

// IsClosing reports whether the item of a project has the mark that the project is being archived or deleted.
func IsClosing(item dynamo.Item, now time.Time) bool {
	at := item.Int(AttributeClosing)
	return at >= now.Add(-closingTime).UnixMilli() && at <= now.Add(closingTime).UnixMilli()
}

// Condition is what a transaction that writes something of a project requires of the project.
type Condition struct {
	Active       bool     // it exists, and is neither archived nor being archived or deleted
	Environments []string // which it has
	LastEvent    *int64   // the id of its last event, so that it has not changed since it was read; nil: any
}

// Actions returns the actions of a transaction that fail if a project does not meet the condition: one, or none if every
// project meets it. The failure contains the item of the project.
func (c Condition) Actions(table, project string, now time.Time) []types.TransactWriteItem {
	conditions := c.conditions(project, now)
	if len(conditions) == 0 {
		return nil
	}
	condition := conditions[0]
	for _, other := range conditions[1:] {
		condition = condition.And(other)
	}
	expr := dynamo.Build(expression.NewBuilder().WithCondition(condition))
	return []types.TransactWriteItem{{ConditionCheck: &types.ConditionCheck{
		TableName:                           &table,
		Key:                                 ProjectKey(project),
		ConditionExpression:                 expr.Condition(),
		ExpressionAttributeNames:            expr.Names(),
		ExpressionAttributeValues:           expr.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}}
}

// Unmet returns the error if a transaction failed because a project does not meet the condition, or nil if the project
// has changed again. The kind of the error is NotFound if there is no such project, or Conflict.
func (c Condition) Unmet(f dynamo.Failure, project string, now time.Time) error {
	if f.Item == nil {
		return access.ProjectNotFound(project)
	}
	stored, err := UnmarshalProject(f.Item)
	switch {
	case err != nil:
		return err
	case stored.ID != project: // another spelling
		return access.ProjectNotFound(project)
	case c.Active && stored.ArchivedAt != nil:
		return apierror.Errorf(apierror.Conflict, "The project %q is archived. Revive it first.", project)
	case c.Active && IsClosing(f.Item, now):
		return apierror.Errorf(apierror.Conflict, "The project %q is being archived or deleted.", project)
	}
	for _, name := range c.Environments {
		if !stored.HasEnvironment(name) {
			return apierror.Errorf(apierror.Conflict, "The project %q does not have the environment %q.", project,
				apierror.Echo(name))
		}
	}
	return nil
}

func (c Condition) conditions(project string, now time.Time) (all []expression.ConditionBuilder) {
	if c.Active && project != access.DefaultProject { // which always exists, and is neither archived nor deleted
		closing := expression.Name(AttributeClosing)
		all = append(all,
			expression.Name(attributeProjectID).Equal(expression.Value(project)),
			expression.Name(AttributeArchivedAt).AttributeNotExists(),
			expression.Not(closing.Between(expression.Value(now.Add(-closingTime).UnixMilli()),
				expression.Value(now.Add(closingTime).UnixMilli()))))
	}
	environments := expression.Name(attributeEnvironments)
	for _, name := range c.Environments {
		all = append(all, environments.AttributeNotExists().Or(environments.Contains(name)))
	}
	if c.LastEvent != nil {
		all = append(all, hasLast(*c.LastEvent))
	}
	return all
}

// hasLast returns the condition that the last event of an item is last; 0: it has none.
func hasLast(last int64) expression.ConditionBuilder {
	attribute := expression.Name(attributeEvent)
	if last == 0 {
		return attribute.AttributeNotExists()
	}
	return attribute.Equal(expression.Value(last))
}
