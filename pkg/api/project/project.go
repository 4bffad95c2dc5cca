// Package project reads the projects: the labels that toggles have, and the default project.
package project

import (
	"net/http"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/pkg/toggle"
)

// Project is a project with its number of toggles, without archived ones.
type Project struct {
	ID       string
	Features int
}

// FromPath returns the path parameter projectId of a request. The kind of its error is Validation.
func FromPath(r *http.Request) (string, error) {
	id, err := lambdahttp.PathParam(r, "projectId")
	if err != nil || toggle.CheckName(id) != nil {
		return "", apierror.Errorf(apierror.Validation,
			"The `/params/projectId` property must have 1 to 100 of the characters A-Z a-z 0-9 . _ ~ -, "+
				"and must not be . or ..; you sent %q.", apierror.Echo(id))
	}
	return id, nil
}
