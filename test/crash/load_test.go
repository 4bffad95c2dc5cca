package crash_test

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// clients is the number of concurrent clients of TestTraffic.
const clients = 16

// load is a set of clients, each of which sends one request at a time.
type load struct {
	*service
	acknowledged atomic.Int64
	running      sync.WaitGroup
}

// add starts a client that sends requests until one fails.
func (l *load) add(send func() (ok bool)) {
	l.running.Go(func() {
		for send() {
		}
	})
}

// awaitWrites waits for n acknowledged writes.
func (l *load) awaitWrites(n int64) {
	l.t.Helper()
	l.await(fmt.Sprint(n, " acknowledged writes"), func() bool { return l.acknowledged.Load() >= n })
}
