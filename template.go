// Package toggleadmin contains template.yaml and the template that it nests, for programs that run without a checkout.
package toggleadmin

import (
	"embed"
	"io/fs"
)

//go:embed template.yaml delivery.yaml
var templates embed.FS

// Templates returns the folder with template.yaml.
func Templates() fs.FS { return templates }
