// Package toggleadmin contains template.yaml, for programs that run without a checkout.
package toggleadmin

import _ "embed"

//go:embed template.yaml
var template []byte

// Template returns the content of template.yaml.
func Template() []byte { return template }
