package toggle

import (
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// crockford is Crockford's Base32, whose characters are in the order of their values.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// IsNewStrategyID reports whether a text has the form of the ids that NewStrategyIDs returns.
func IsNewStrategyID(text string) bool {
	id, err := crockford.DecodeString(text)
	return err == nil && len(id) == 16
}

// NewStrategyIDs returns a function that returns ids of strategies: 26 characters, of which the first ones rise with
// time and the others are random. It is safe for concurrent use if now and random are.
func NewStrategyIDs(now func() time.Time, random io.Reader) func() string {
	return func() string {
		var id [16]byte
		binary.BigEndian.PutUint64(id[:8], uint64(now().UnixMilli())<<16)
		if _, err := io.ReadFull(random, id[6:]); err != nil {
			panic(fmt.Sprintf("read random bytes: %v", err)) // crypto/rand never fails
		}
		return crockford.EncodeToString(id[:])
	}
}
