// Package anybytes_test sends bytes of every kind to the service's HTTP port: broken, hostile, half, too many. Each gets an answer of the
// contract, or a closed connection; never a status from 500, a crash, or a wait beyond the server's own limits.
//
// The one concept is the conversation: bytes are sent on one connection, our half is closed, and everything that comes back until the end
// is read as HTTP answers and judged (answer_test.go).
package anybytes_test
