package accesstable

import (
	"time"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/dynamo"
)

// NotActive returns the error if a transaction failed because a project is not active, or nil if the project has become
// active since. The kind of the error is NotFound if there is no such project, or Conflict.
func NotActive(f dynamo.Failure, project string, now time.Time) error {
	if f.Item == nil {
		return access.ProjectNotFound(project)
	}
	stored, err := UnmarshalProject(f.Item)
	switch {
	case err != nil:
		return err
	case stored.ID != project: // another spelling
		return access.ProjectNotFound(project)
	case stored.ArchivedAt != nil:
		return apierror.Errorf(apierror.Conflict, "The project %q is archived. Revive it first.", project)
	case IsClosing(f.Item, now):
		return apierror.Errorf(apierror.Conflict, "The project %q is being archived or deleted.", project)
	}
	return nil
}
