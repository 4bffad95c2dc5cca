// Package seed fills new tables: with what every installation has (Initialise), and with people, credentials and toggles to try it with
// on one machine (Seed), which has the former done by the same code first.
//
// The one concept: what is seeded once, up to a marker, is data, and belongs to the users from then on. What every installation has is
// written in one transaction, so it is there as a whole or not at all. The demonstration's credentials are made anew whenever the caller has
// lost them, since only their hashes are stored. Everything is written by the nouns' own stores, and every step can be repeated: a crash
// at any point is repaired by the next call.
//
// Files: installation.go what every installation has, demo.go and credentials.go the demonstration, marker.go the marker.
//
// Not here: making the tables, and keeping the credentials. The caller writes them where only their owner can read them.
package seed
