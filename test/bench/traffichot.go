package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/traffic"
	"toggleadmin/test/accesslog"
)

// contended makes transactions conflict as on AWS: one that touches an item which another holds is canceled.
type contended struct {
	next http.RoundTripper
	hold time.Duration // how long a transaction takes, and holds its items

	mu        sync.Mutex
	held      map[string]bool
	conflicts atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (c *contended) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	items := regexp.MustCompile(`"S":"([^"]*#[^"]*)"`).FindAllString(string(body), -1)
	if !c.take(items) {
		c.conflicts.Add(1)
		reasons := strings.TrimSuffix(strings.Repeat(`{"Code":"TransactionConflict"},`, bytes.Count(body, []byte(`"TableName"`))), ",")
		answer := `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[` + reasons + `]}`
		return &http.Response{
			StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(answer)),
			Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(strings.NewReader(answer)),
		}, nil
	}
	defer c.give(items)
	timer := time.NewTimer(c.hold)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	passed := r.Clone(r.Context())
	passed.Body = io.NopCloser(bytes.NewReader(body))
	return c.next.RoundTrip(passed)
}

func (c *contended) take(items []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range items {
		if c.held[item] {
			return false
		}
	}
	for _, item := range items {
		c.held[item] = true
	}
	return true
}

func (c *contended) give(items []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range items {
		delete(c.held, item)
	}
}

// measureHotKey sends one path's 10,000 requests a second, in deliveries of several sizes, against items that only one transaction at a
// time may touch.
func (g *trafficGround) measureHotKey(ctx context.Context, _ string) error {
	const rate, hold, length = 10_000, 10 * time.Millisecond, 3 * time.Second
	var rows [][]string
	for _, size := range []int{1000, 200, 100, 50} {
		for _, shards := range []int{1, traffic.Shards} {
			row, err := g.hotKey(ctx, size, shards, rate/size, hold, length)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
	}
	printTable("record-traffic: one path at 10,000 requests a second",
		fmt.Sprintf("Deliveries sent at their times for %s, the engine behind a layer that holds each transaction's items for %s and refuses others "+
			"meanwhile with TransactionConflict, as AWS does.", length, hold),
		[]string{"lines in a delivery", "deliveries/s", "items", "conflicts per transaction", "p50 ms", "p99 ms", "not counted in 25 s"}, rows)
	return nil
}

func (g *trafficGround) hotKey(ctx context.Context, size, shards, perSecond int, hold, length time.Duration) ([]string, error) {
	layer := &contended{next: dynamo.NewHTTPClient(g.endpoint).Transport, hold: hold, held: map[string]bool{}}
	client, err := g.clientThrough(layer, nil)
	if err != nil {
		return nil, err
	}
	recorder := g.recorder(client)
	n := int(length.Seconds() * float64(perSecond))
	took, failed := make([]time.Duration, n), new(atomic.Int64)
	streams := streamsOf(fmt.Sprint(size, "/", shards, "/"), shards)
	var group sync.WaitGroup
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for i := range n {
		lines := g.lines(i*size, size, time.Now())
		for j := range lines {
			lines[j].Path = g.list[0]
		}
		event, err := accesslog.Delivery(streams[i%shards], g.format, lines)
		if err != nil {
			return nil, err
		}
		<-tick.C
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, g.function.Timeout)
			defer cancel()
			started := time.Now()
			if _, err := recorder.Handle(ctx, event); err != nil {
				failed.Add(1)
			}
			took[i] = time.Since(started)
		})
	}
	group.Wait()
	middle := median(took) // sorts
	return []string{
		strconv.Itoa(size), strconv.Itoa(perSecond), strconv.Itoa(shards), fmt.Sprintf("%.2f", float64(layer.conflicts.Load())/float64(n)),
		milliseconds(middle), milliseconds(percentile(took, 0.99)), strconv.FormatInt(failed.Load(), 10),
	}, nil
}

// streamsOf gives names of log streams, each of another shard.
func streamsOf(prefix string, shards int) []string {
	streams, taken := []string{}, map[int]bool{}
	for i := 0; len(streams) < shards; i++ {
		name := prefix + strconv.Itoa(i)
		if shard := traffic.Shard(name); !taken[shard] {
			taken[shard] = true
			streams = append(streams, name)
		}
	}
	return streams
}
