// Package template holds template.yaml to what neither CloudFormation's linters nor the reader of pkg/samtemplate look at: that nothing
// is missing which only a deployment, or the day after it, would miss.
//
// The one concept is the problem: Problems reads a template and gives one line for each thing that is not as it must be, with the name of
// what it is about. So the same checks say that the real template has none, and that each permission, alarm, retention, on-failure
// destination and gateway response would be missed: a test takes them out one at a time.
//
// Not here: whether a policy grants what the functions really use (test/usage), and the properties' own rules (`make validate`).
package template
