// Package deploy_test deploys the service with sam, as a user would, into ministack: an emulator of AWS that runs on this machine, plays
// CloudFormation, API Gateway, DynamoDB with its streams and CloudWatch Logs, starts the built binaries as processes, and enforces the
// policies of their roles. `make test-deploy` installs the tools, builds, and runs it; without it everything here is skipped.
//
// The one concept is the stack: what sam deployed from a template with parameters, reached by nothing but its outputs and resources. The
// template is the built one, or a copy with one thing changed: without a permission, with a wrong table name.
//
// The emulator is one process for all tests, which run one after the other. It ends with the test's process, however that ends. Its state
// is in memory, and seeded credentials stay in this process.
//
// Not here: the template's properties. The emulator takes most that AWS would refuse; `make validate` and package template look at them.
// How it differs from AWS besides is asserted in differences_test.go, and what of that scripts see stands in package script's ground.go.
package deploy_test
