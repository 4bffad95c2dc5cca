// Package tables creates the template's tables in a DynamoDB-compatible engine.
//
// Make creates tables that do not exist and rejects a table or index with other keys. It never changes keys and never
// deletes anything. EnableStreams is separate because it runs after seeding, so that seeded items do not
// become stream records. On AWS, CloudFormation creates the tables from the same template.
package tables
