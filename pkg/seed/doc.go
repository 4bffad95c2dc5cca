// Package seed fills new tables with what a new instance has (feature types, context fields), and with people, credentials and toggles
// to try it with.
//
// The one concept: what is seeded once, up to a marker, is data, and belongs to the users from then on; credentials are made anew whenever
// the caller has lost them, since only their hashes are stored. Everything is written by the nouns' own stores, and every step can
// be repeated: a crash at any point is repaired by the next call.
//
// Not here: making the tables, and keeping the credentials. The caller writes them where only their owner can read them.
package seed
