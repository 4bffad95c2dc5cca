package anybytes_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// TestSlowClientsAreHungUpOn opens connections that send nothing, a half, or a byte now and then. The server's own limit for a request's
// head ends them all after ten seconds; meanwhile others are served.
func TestSlowClientsAreHungUpOn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes the server's ten seconds")
	}
	base, fill := start(t)
	const clients = 64
	var waiting sync.WaitGroup
	for i := range clients {
		conn := dial(t, base, 2*patience)
		waiting.Go(func() {
			began := time.Now()
			stop := trickle(conn, i)
			defer stop()
			_, err := io.Copy(io.Discard, conn) // until the server has closed it
			if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
				t.Errorf("client %d is not hung up on", i)
			}
			if took := time.Since(began); took > patience {
				t.Errorf("client %d is hung up on after %s", i, took)
			}
		})
	}
	checkAlive(t, base, fill)
	waiting.Wait()
	checkAlive(t, base, fill)
}

// trickle sends nothing, half a head, or one header a byte at a time, until stop.
func trickle(conn net.Conn, i int) (stop func()) {
	done := make(chan struct{})
	switch i % 3 {
	case 1:
		_, _ = io.WriteString(conn, "GET /api/admin/context HTTP/1.1\r\nHost: x\r\nX: ")
	case 2:
		_, _ = io.WriteString(conn, "GET /api/admin/context HTTP/1.1\r\nHost: x\r\nX: ")
		go func() {
			tick := time.NewTicker(200 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-done:
					return
				case <-tick.C:
					if _, err := io.WriteString(conn, "y"); err != nil {
						return
					}
				}
			}
		}()
	}
	return func() { close(done) }
}
