package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// worker does one operation after another, on a connection of its own.
type worker func(ctx context.Context) (operations int, err error)

// result is one run of a closed loop.
type result struct {
	PerSecond      float64
	P50, P99, P999 time.Duration // of one call of the worker
}

// drive runs n workers for a while, each beginning its next call when the last has ended.
func drive(ctx context.Context, n int, length time.Duration, newWorker func(i int) (worker, error)) (result, error) {
	workers := make([]worker, n)
	for i := range workers {
		var err error
		if workers[i], err = newWorker(i); err != nil {
			return result{}, err
		}
	}
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		all   []time.Duration
		total int
		fault error
	)
	warmUntil := time.Now().Add(length / 4)
	until := warmUntil.Add(length)
	for _, work := range workers {
		group.Go(func() {
			var took []time.Duration
			done := 0
			for time.Now().Before(until) {
				started := time.Now()
				operations, err := work(ctx)
				if err != nil {
					mu.Lock()
					fault = err
					mu.Unlock()
					return
				}
				if started.After(warmUntil) {
					took = append(took, time.Since(started))
					done += operations
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
			total += done
		})
	}
	group.Wait()
	if fault != nil {
		return result{}, fault
	}
	slices.Sort(all)
	return result{
		PerSecond: float64(total) / length.Seconds(), P50: percentile(all, 0.5), P99: percentile(all, 0.99),
		P999: percentile(all, 0.999),
	}, nil
}

// connection is one keep-alive connection. It writes requests as they are and reads responses with net/http, so that
// the client takes as little as possible of the two processors that it shares with the service.
type connection struct {
	conn   net.Conn
	reader *bufio.Reader
	host   string
}

func dial(ctx context.Context, baseURL string) (*connection, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn, reader: bufio.NewReader(conn), host: u.Host}, nil
}

// request spells a request; a body is JSON.
func (c *connection) request(method, path, token, body string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n", method, path, c.host, token)
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}

// do sends a request and reads the whole response, which must have the wanted status.
func (c *connection) do(request []byte, status int) ([]byte, error) {
	if _, err := c.conn.Write(request); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != status {
		return nil, fmt.Errorf("%s: status %d: %s", bytes.TrimSpace(request[:bytes.IndexByte(request, '\r')]),
			answer.StatusCode, body)
	}
	return body, nil
}
