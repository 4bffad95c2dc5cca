package world

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"time"
)

// mix returns a hash of numbers.
func mix(values ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, v := range values {
		h = (h ^ v) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>29) * 0x94d049bb133111eb
		h ^= h >> 32
	}
	return h
}

func hashOf[T string | []byte](text T) uint64 { return uint64(crc32.ChecksumIEEE([]byte(text))) }

// hashOfJSON returns a hash that does not depend on what is random in a request: the order of members, and the
// idempotency token, which is the first one.
func hashOfJSON(text []byte) (h uint64) {
	for part := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == '{' || r == '}' || r == ',' }) {
		if !bytes.HasPrefix(part, []byte(`"ClientRequestToken"`)) {
			h += hashOf(part)
		}
	}
	return h
}

// random returns a source of random numbers that depends on nothing but the seed and the values.
func (w *World) random(values ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.Seed, mix(values...)))
}

// upTo returns a time below a limit that depends on nothing but the seed and the values.
func (w *World) upTo(limit time.Duration, values ...uint64) time.Duration {
	return time.Duration(mix(append([]uint64{w.Seed}, values...)...) % uint64(limit))
}

func within(random *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(d)))
}
