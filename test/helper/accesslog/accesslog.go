// Package accesslog makes events of CloudWatch Logs that contain lines of API Gateway's access log, for tests and
// benchmarks of the function that counts them.
package accesslog

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Line is one request in the access log.
type Line struct {
	N      int // makes the IDs; different for each line of a stream
	Time   time.Time
	Path   string // resource path
	Status int
}

// Text returns the line in the format of template.yaml.
func (l *Line) Text(format string) string {
	unique := uint64(l.N+1) * 0x9e3779b97f4a7c15 // IDs look random, so that they compress like real ones
	return strings.NewReplacer(
		"$context.extendedRequestId", fmt.Sprintf("%015x=", unique>>4),
		"$context.requestId", fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", unique>>32, unique>>16&0xffff, unique&0xfff,
			unique>>52, l.N),
		"$context.requestTimeEpoch", strconv.FormatInt(l.Time.UnixMilli(), 10),
		"$context.resourcePath", l.Path,
		"$context.status", strconv.Itoa(l.Status),
		"$context.responseLatency", strconv.Itoa(5+l.N%40),
		"$context.authorizer.principalId", "user:"+strconv.Itoa(1+l.N%9),
		"$context.error.responseType", "-",
		"$context.identity.sourceIp", "192.0.2."+strconv.Itoa(1+l.N%9),
	).Replace(format)
}

// Delivery returns the event that delivers lines of one log stream to a function.
func Delivery(stream, format string, lines []Line) (events.CloudwatchLogsEvent, error) {
	data := events.CloudwatchLogsData{
		Owner: "123456789012", LogGroup: "access", LogStream: stream, SubscriptionFilters: []string{"record"},
		MessageType: "DATA_MESSAGE",
	}
	hash := fnv.New64a()
	_, _ = fmt.Fprint(hash, stream) // never fails
	for i := range lines {
		l := &lines[i]
		data.LogEvents = append(data.LogEvents, events.CloudwatchLogsLogEvent{
			ID:        fmt.Sprintf("39%014d%020d%020d", l.Time.UnixMilli(), hash.Sum64(), l.N),
			Timestamp: l.Time.UnixMilli() + 40, Message: l.Text(format),
		})
	}
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	err := errors.Join(json.NewEncoder(w).Encode(data), w.Close())
	encoded := base64.StdEncoding.EncodeToString(compressed.Bytes())
	return events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{Data: encoded}}, err
}
