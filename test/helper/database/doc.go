// Package database provides tests with new tables on a real DynamoDB-compatible engine, and with clients whose requests
// fail as the test specifies.
package database
