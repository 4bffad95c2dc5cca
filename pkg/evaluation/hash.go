package evaluation

import (
	"encoding/binary"
	"math/bits"
)

// The seeds of the hashes, which are the same in all SDKs. The hashes of a context for the rollout and for the variant
// of a strategy are independent, because their seeds differ.
const (
	rolloutSeed = 0
	variantSeed = 86028157
)

// hashNumber returns the number from 1 to n of an id in a group: the same one each time, in all SDKs.
func hashNumber(group, id string, seed, n uint32) uint32 {
	var buffer [256]byte // on the stack
	text := append(buffer[:0], group...)
	text = append(text, ':')
	text = append(text, id...)
	return murmur3(text, seed)%n + 1
}

// murmur3 returns the 32-bit MurmurHash3 of a text (https://github.com/aappleby/smhasher, MurmurHash3_x86_32).
func murmur3(text []byte, seed uint32) uint32 {
	hash := seed
	rest := text
	for len(rest) >= 4 {
		hash ^= scramble(binary.LittleEndian.Uint32(rest))
		hash = bits.RotateLeft32(hash, 13)*5 + 0xe6546b64
		rest = rest[4:]
	}
	var last uint32
	for i, c := range rest {
		last |= uint32(c) << (8 * i)
	}
	hash ^= scramble(last)

	hash ^= uint32(len(text)) //nolint:gosec // modulo 2^32, as defined
	hash ^= hash >> 16
	hash *= 0x85ebca6b
	hash ^= hash >> 13
	hash *= 0xc2b2ae35
	hash ^= hash >> 16
	return hash
}

func scramble(block uint32) uint32 {
	return bits.RotateLeft32(block*0xcc9e2d51, 15) * 0x1b873593
}
