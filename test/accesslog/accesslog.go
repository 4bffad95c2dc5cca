// Package accesslog makes deliveries of the access log, as CloudWatch Logs makes them of the gateway's lines, for tests and benchmarks
// of what counts them.
//
// The one concept: a Line is a request that was answered; Delivery packs lines of one log stream.
package accesslog

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Line is one request in the access log.
type Line struct {
	N      int // from 0, of its stream or of all: makes the ids
	Time   time.Time
	Method string // empty: GET
	Path   string // resource path
	Status int
}

// text fills the format of template.yaml's access log.
func (l *Line) text(format string) string {
	method := l.Method
	if method == "" {
		method = "GET"
	}
	unique := uint64(l.N+1) * 0x9e3779b97f4a7c15 // ids look random, so that they pack like real ones
	return strings.NewReplacer(
		"$context.extendedRequestId", base64.URLEncoding.EncodeToString(fmt.Appendf(nil, "%011x", unique>>20))[:15]+"=",
		"$context.requestId", fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", unique>>32, unique>>16&0xffff, unique&0xfff, unique>>52, l.N),
		"$context.requestTimeEpoch", strconv.FormatInt(l.Time.UnixMilli(), 10),
		"$context.httpMethod", method,
		"$context.resourcePath", l.Path,
		"$context.status", strconv.Itoa(l.Status),
		"$context.responseLatency", strconv.Itoa(5+l.N%40),
		"$context.authorizer.principalId", "user:"+strconv.Itoa(1+l.N%9),
		"$context.error.responseType", "-",
	).Replace(format)
}

// Event is the log event of a line.
func (l *Line) event(stream, format string) events.CloudwatchLogsLogEvent {
	return events.CloudwatchLogsLogEvent{
		ID: fmt.Sprintf("39%014d%s%020d", l.Time.UnixMilli(), fixed(stream), l.N), Timestamp: l.Time.UnixMilli() + 40, Message: l.text(format),
	}
}

// fixed is 20 digits of a stream's name.
func fixed(stream string) string {
	sum := uint64(14695981039346656037)
	for i := range len(stream) {
		sum = (sum ^ uint64(stream[i])) * 1099511628211
	}
	return fmt.Sprintf("%020d", sum)
}

// Delivery packs lines of one log stream as CloudWatch Logs does, and gives the function's event.
func Delivery(stream, format string, lines []Line) (events.CloudwatchLogsEvent, error) {
	data := events.CloudwatchLogsData{
		Owner: "123456789012", LogGroup: "access", LogStream: stream, SubscriptionFilters: []string{"record"}, MessageType: "DATA_MESSAGE",
	}
	for i := range lines {
		data.LogEvents = append(data.LogEvents, lines[i].event(stream, format))
	}
	text, err := json.Marshal(data)
	if err != nil {
		return events.CloudwatchLogsEvent{}, fmt.Errorf("encode the delivery: %w", err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		return events.CloudwatchLogsEvent{}, fmt.Errorf("pack the delivery: %w", err)
	}
	if err := w.Close(); err != nil {
		return events.CloudwatchLogsEvent{}, fmt.Errorf("pack the delivery: %w", err)
	}
	return events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{Data: base64.StdEncoding.EncodeToString(packed.Bytes())}}, nil
}

// Messages gives the messages of a delivery's data.
func Messages(data string) ([]string, error) {
	delivery, err := events.CloudwatchLogsRawData{Data: data}.Parse()
	if err != nil {
		return nil, fmt.Errorf("unpack the delivery: %w", err)
	}
	var messages []string
	for i := range delivery.LogEvents {
		messages = append(messages, delivery.LogEvents[i].Message)
	}
	return messages, nil
}
