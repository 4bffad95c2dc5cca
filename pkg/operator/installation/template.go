package installation

import (
	"toggleadmin"
	"toggleadmin/pkg/local/samtemplate"
)

// Template returns template.yaml of this version of the program. An installation must have its tables. The template of
// a deployed stack is not read: it has the tables of the version that was deployed, which can be another one.
func Template() (*samtemplate.Template, error) {
	document, err := samtemplate.Parse("template.yaml", toggleadmin.Template())
	if err != nil {
		return nil, err
	}
	return document.Resolve(samtemplate.Settings{})
}
