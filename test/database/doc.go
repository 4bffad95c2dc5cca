// Package database gives tests fresh tables on a real DynamoDB-compatible engine, and clients whose requests fail as a test wants.
package database
