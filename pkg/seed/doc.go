// Package seed fills new tables: Initialize writes what every installation needs, and Seed adds accounts, credentials
// and toggles to try the service on one machine.
//
// Data is seeded once and belongs to the users afterwards; a marker in the tables records that it was done. Initialize
// writes everything in one transaction. Every step of Seed can be repeated, so the next call completes one that
// crashed. Only hashes of credentials are stored, so Seed creates new credentials if the caller has lost them. The
// caller creates the tables and stores the credentials.
package seed
