// Package stores tests what the authorizer reads of tokens, on a real DynamoDB-compatible engine.
package stores
