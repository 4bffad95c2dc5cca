// Package installation opens an installation of this service for its operator: a stack on AWS, found by its name, or the service that runs on
// this machine.
//
// The one concept: whatever it is, an opened installation is a DynamoDB client, the tables' names and the API's URL. All that works on it
// afterwards is the same.
//
// Not here: the work itself (pkg/operator), the checks of what surrounds the tables (pkg/doctor).
package installation
