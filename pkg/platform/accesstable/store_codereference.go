package accesstable

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/dynamo"
)

// CodeReferencesID returns the sort key of what a repository reports for a project. An id of a project has no slash.
func CodeReferencesID(project, repository string) string {
	return strings.ToLower(project) + "/" + repository
}

// CodeReferencesOf returns the condition on the keys of what repositories report for a project.
func CodeReferencesOf(project string) expression.KeyConditionBuilder {
	return expression.Key(Hash).Equal(expression.Value(KindCodeReferences)).
		And(expression.Key(Range).BeginsWith(CodeReferencesID(project, "")))
}

// DeleteCodeReferences deletes what repositories report for a project that is being deleted, or does not exist. It needs no
// condition: nothing is reported for such a project.
func (s *Reader) DeleteCodeReferences(ctx context.Context, project string) error {
	for item, err := range dynamo.QueryWhere(ctx, s.client, s.table, CodeReferencesOf(project), Hash, Range) {
		if err == nil {
			_, err = s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: item})
		}
		if err != nil {
			return fmt.Errorf("delete the code references of the project %q: %w", project, err)
		}
	}
	return nil
}
