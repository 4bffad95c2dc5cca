package gateway

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// buffers are the memory that requests use one after the other.
type buffers struct {
	body    []byte // the request's, then the answer's
	shared  []byte // what both events have in common; see encodeShared
	split   int    // where, in shared, the query begins …
	context int    // … and where the request context does
	event   []byte // the event of the call under way
	scratch []byte
	line    []byte // of the access log
	pairs   []pair // of the query
	headers []answerHeader
	input   bytes.Buffer
	decoder *jsontext.Decoder
}

// bufferPool hands out buffers.
type bufferPool struct{ pool sync.Pool }

func newBufferPool() *bufferPool {
	return &bufferPool{sync.Pool{New: func() any {
		return &buffers{
			shared: make([]byte, 0, 4096), event: make([]byte, 0, 4096), scratch: make([]byte, 0, 2048), line: make([]byte, 0, maxLogLine),
			decoder: jsontext.NewDecoder(bytes.NewReader(nil)),
		}
	}}}
}

// maxKept is the size above which a buffer is left to the garbage collector.
const maxKept = 256 * 1024

func (p *bufferPool) get() *buffers { return p.pool.Get().(*buffers) } //nolint:errcheck,forcetypeassert // New makes no other

func (p *bufferPool) put(b *buffers) {
	if cap(b.body)+cap(b.shared)+cap(b.event)+cap(b.scratch)+cap(b.line) > maxKept {
		return
	}
	b.input = bytes.Buffer{}
	clear(b.pairs[:cap(b.pairs)])
	clear(b.headers[:cap(b.headers)])
	p.pool.Put(b)
}

// decode points the decoder at a document.
func (b *buffers) decode(document []byte) *jsontext.Decoder {
	b.input = *bytes.NewBuffer(document) // read where it is
	b.decoder.Reset(&b.input, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return b.decoder
}

// truncate cuts b to at most n bytes.
func truncate(b []byte, n int) []byte { return b[:min(len(b), n)] }
