package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// worker does one operation after another, on a connection of its own.
type worker func(ctx context.Context) error

// result is one run of a closed loop.
type result struct {
	perSecond float64
	p50, p99  time.Duration
}

// drive runs workers for a while, after a quarter of this time to warm up. Each begins its next operation when the last
// has ended.
func drive(ctx context.Context, length time.Duration, workers []worker) result {
	var group sync.WaitGroup
	times, errs := make([][]time.Duration, len(workers)), make([]error, len(workers))
	warmUntil := time.Now().Add(length / 4)
	until := warmUntil.Add(length)
	for i, work := range workers {
		group.Go(func() {
			for time.Now().Before(until) && errs[i] == nil {
				started := time.Now()
				errs[i] = work(ctx)
				if started.After(warmUntil) {
					times[i] = append(times[i], time.Since(started))
				}
			}
		})
	}
	group.Wait()
	check(errors.Join(errs...))
	all := slices.Concat(times...)
	return result{float64(len(all)) / length.Seconds(), percentile(all, 0.5), percentile(all, 0.99)}
}

// connection is one keep-alive connection. It writes requests as they are and reads responses with net/http, so that
// the client takes as little as possible of the two processors that it shares with the service.
type connection struct {
	net.Conn
	reader *bufio.Reader
}

// dial connects to the server of a URL.
func dial(ctx context.Context, url string) *connection {
	conn := must((&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://")))
	return &connection{conn, bufio.NewReader(conn)}
}

// do sends a request, whose body is JSON, and reads the whole response, which must have the wanted status.
func (c *connection) do(status int, method, path, token, body string) ([]byte, error) {
	got, err := c.send(method, path, token, body)
	if err == nil && got.status != status {
		err = fmt.Errorf("%s %s: %d: %s", method, path, got.status, got.body)
	}
	return got.body, err
}

// received is a response that was read.
type received struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request, whose body is JSON, with more headers, each a line without its end. It reads the whole
// response.
func (c *connection) send(method, path, token, body string, headers ...string) (received, error) {
	var request bytes.Buffer
	fmt.Fprintf(&request, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n", method, path, c.RemoteAddr(), token, len(body))
	for _, header := range headers {
		request.WriteString(header + "\r\n")
	}
	request.WriteString("\r\n" + body)
	if _, err := request.WriteTo(c); err != nil {
		return received{}, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return received{}, err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	return received{response.StatusCode, response.Header, got}, err
}
