// Package template holds tests only: what template.yaml must keep that neither CloudFormation's linters nor the reader of
// pkg/samtemplate look at. Every check runs on the real template.
package template
