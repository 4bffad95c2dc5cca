package engine_test

import (
	"bytes"
	"net"
	"strconv"
	"sync"
	"testing"
)

// syncBuffer is a buffer that is written and read at the same time.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func freePort(tb testing.TB) string {
	tb.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(tb.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		tb.Fatalf("address %v", l.Addr())
	}
	return strconv.Itoa(address.Port)
}
