package installation

import (
	"sync"

	"toggleadmin"
	"toggleadmin/pkg/samtemplate"
)

// Template returns template.yaml of this version of the program, which the caller must not change. An installation must
// have its tables. The template of a deployed stack is not read: it has the tables of the version that was deployed,
// which can be another one.
func Template() (*samtemplate.Template, error) { return readTemplate() }

// readTemplate reads the embedded files once, because that takes 35 ms.
var readTemplate = sync.OnceValues(func() (*samtemplate.Template, error) {
	document, err := samtemplate.Parse(toggleadmin.Templates(), "template.yaml")
	if err != nil {
		return nil, err
	}
	return document.Resolve(samtemplate.Settings{})
})
