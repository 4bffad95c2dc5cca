// Package local runs the whole service in one process, for `make run` and for tests.
//
// Run reads template.yaml and creates what CloudFormation would create on AWS: the tables in a DynamoDB-compatible
// engine (pkg/local/engine), a handler for each function (functions.go), the API in front of them (pkg/local/gateway),
// the delivery of events to functions (pkg/local/trigger), and the bus and the queues of the webhook (pkg/local/bus). It
// rejects a template with properties that it does not support.
package local
