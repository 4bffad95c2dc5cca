// Package local is the service on one machine, in one process: what `make run` and the tests start.
//
// The one concept: Run reads template.yaml and makes of it what CloudFormation would make on AWS: the tables, in an engine that it starts
// (pkg/local/engine), each function's handler with its variables (by the very constructors that the deployed binaries call, see
// functions.go), the API in front of them (pkg/local/gateway), and the delivery of events (pkg/local/trigger). Nothing of the template
// is repeated here, and whatever of it is not known here is refused at the start.
//
// Every error of Run is one line that says what to do.
//
// What is not here: flags and the environment (cmd/local), and anything that belongs to one of the operations.
package local
