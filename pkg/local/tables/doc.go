// Package tables creates the template's tables in a DynamoDB-compatible engine.
//
// Make creates tables that do not exist and rejects a table with other keys. It never changes the keys of a table and never deletes one.
// EnableStreams is separate because it runs after seeding, so that seeded items do not become stream records. On AWS, CloudFormation
// creates the tables from the same template.
package tables
