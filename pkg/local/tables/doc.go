// Package tables makes a template's tables in a DynamoDB-compatible engine.
//
// The one concept: Make brings the tables that are missing, as the template says, and refuses one that is there with other keys. It never
// changes or deletes a table. Streams are switched on apart from that (EnableStreams), after seeding: what was there before
// the first reader is nobody's event.
//
// Not here: tables on AWS, which CloudFormation makes from the same template.
package tables
