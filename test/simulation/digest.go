package simulation

import "bytes"

// hashJSON returns a hash of a JSON value without white space. It does not depend on the order of members, nor on
// idempotency tokens.
func hashJSON(b []byte) uint64 {
	h, _ := hashValue(b, 0)
	return h
}

func hashValue(b []byte, i int) (h uint64, next int) {
	if i >= len(b) {
		return 0, i
	}
	switch b[i] {
	case '{', '[':
		object := b[i] == '{'
		h = uint64(b[i])
		for i++; i < len(b) && b[i] != '}' && b[i] != ']'; {
			start := i
			var element uint64
			element, i = hashValue(b, i)
			if object {
				name := b[start:i]
				var value uint64
				value, i = hashValue(b, i+1) // after the colon
				if !bytes.Equal(name, []byte(`"ClientRequestToken"`)) {
					h += mix(element, value)
				}
			} else {
				h = mix(h, element)
			}
			if i < len(b) && b[i] == ',' {
				i++
			}
		}
		return h, i + 1
	case '"':
		start := i
		for i++; i < len(b) && b[i] != '"'; i++ {
			if b[i] == '\\' {
				i++
			}
		}
		return hashOf(b[start:min(i, len(b))]), i + 1
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' {
		i++
	}
	return hashOf(b[start:i]), max(i, start+1)
}
