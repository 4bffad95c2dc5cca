// Package template contains tests of template.yaml, samconfig.toml and the documents about them. They check what
// neither CloudFormation's linters nor package samtemplate check: parts whose absence shows only during or after a
// deployment. Package test/usage compares the DynamoDB permissions with what the functions use.
package template
