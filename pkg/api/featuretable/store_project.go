package featuretable

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// maxName is the maximum length of the name of a toggle, in bytes. Applications can report longer names.
const maxName = 100

// Visibility reads which toggles belong to projects that a caller sees, also those that were deleted. It is safe for
// concurrent use.
type Visibility struct {
	client *dynamodb.Client
	tables dynamo.Tables
}

// NewVisibility returns a Visibility on the tables Features and Events.
func NewVisibility(client *dynamodb.Client, tables dynamo.Tables) *Visibility {
	return &Visibility{client, tables}
}

// Hidden returns which of the names are toggles in projects that visible does not select or, if no toggle has the name,
// were such toggles when they were deleted, as long as the event log keeps the deletion. It reads consistently.
func (v *Visibility) Hidden(
	ctx context.Context, names []string, visible func(project string) bool,
) (map[string]bool, error) {
	missing := map[string]bool{}
	for _, name := range names {
		if name != "" && len(name) <= maxName {
			missing[name] = true
		}
	}
	rows, err := Read(ctx, v.client, v.tables[Table], slices.Collect(maps.Keys(missing)))
	if err != nil {
		return nil, err
	}
	hidden := map[string]bool{}
	for _, row := range rows {
		hidden[row.Toggle.Name] = !visible(row.Toggle.Project)
		delete(missing, row.Toggle.Name)
	}
	var subjects []eventlog.Subject
	for name := range missing {
		subjects = append(subjects, Subject(toggle.Feature{Name: name}))
	}
	projects, err := eventlog.DeletedProjects(ctx, v.client, v.tables[eventlog.Table], subjects)
	for name := range missing {
		if project, ok := projects[Subject(toggle.Feature{Name: name})]; ok {
			hidden[name] = !visible(project)
		}
	}
	return hidden, err
}
