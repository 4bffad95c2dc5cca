// Package deploy_test deploys the service with sam into ministack, an AWS emulator on this machine. It implements
// CloudFormation, API Gateway, DynamoDB with streams and CloudWatch Logs, runs the built binaries as processes and
// enforces the policies of their roles. `make test-deploy` installs the tools, builds the functions and runs these
// tests. Otherwise they are skipped.
//
// Tests use only the outputs and resources of a stack. They run one after another, each with an emulator of its own,
// which ends with the test's process. Its state is in memory.
//
// The emulator accepts most template properties that AWS rejects. `make validate` and test/template check the template.
// testdata/differences asserts how the emulator differs from AWS; test/helper/script/environment.go lists the
// differences that scripts can observe.
package deploy_test
