package world

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// trafficState is what the world knows about requests.
type trafficState struct {
	answered   map[string]int64                // by day and status
	lines      []events.CloudwatchLogsLogEvent // of the access log
	delivered  int                             // the number of lines that were
	compressor gzip.Writer                     // does not compress, which is the fastest
}

// readTraffic gets the report of the month, or reads the event log.
func (a *actor) readTraffic() {
	if a.IntN(2) == 0 {
		a.readLog()
		return
	}
	a.do(a.admin, "GET metrics/traffic/"+time.Now().UTC().Format("2006-01"), nil)
}

// logLine receives a line of the access log. Lines of five seconds are delivered together.
func (w *World) logLine(line []byte, at time.Time) {
	w.mu.Lock()
	n, first := len(w.traffic.lines)+1, len(w.traffic.lines) == w.traffic.delivered
	w.traffic.lines = append(w.traffic.lines, events.CloudwatchLogsLogEvent{
		ID: fmt.Sprintf("%020d", n), Timestamp: at.UnixMilli(), Message: string(line),
	})
	w.mu.Unlock()
	if first {
		w.enter(hashOf(line), func() { w.after(5*time.Second, func() { w.deliverLines(fmt.Sprint("stream-", n%3)) }) })
	}
}

// latestDelivery is how late a batch can be delivered again, from the queue of deliveries that have failed.
const latestDelivery = 14 * day

func (w *World) deliverLines(stream string) {
	lines := w.traffic.lines[w.traffic.delivered:]
	w.traffic.delivered = len(w.traffic.lines)
	var data bytes.Buffer
	w.traffic.compressor.Reset(&data)
	_, err := w.traffic.compressor.Write(encode(events.CloudwatchLogsData{
		MessageType: "DATA_MESSAGE", LogGroup: "access", LogStream: stream, LogEvents: lines,
	}))
	w.must(errors.Join(err, w.traffic.compressor.Close()))
	payload := encode(events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{
		Data: base64.StdEncoding.EncodeToString(data.Bytes()),
	}})
	w.spawn(func() {
		for attempt := 0; !w.over; attempt++ {
			_, err := w.invoke(context.Background(), "record-traffic", payload)
			if err == nil && !w.happens(redelivered, mix(hashOf(lines[0].ID), uint64(attempt)), 0.1) {
				return
			}
			wait := time.Duration(attempt+1) * 10 * time.Second
			if err == nil && mix(w.Seed, hashOf(lines[0].ID), uint64(attempt))%4 == 0 {
				wait = w.upTo(latestDelivery, hashOf(lines[0].ID), 30)
			}
			w.sleep(lines[0].ID, wait)
			w.expire()
		}
	})
}

// checkTraffic checks that requests are counted once.
func (w *World) checkTraffic() {
	counted := map[string]int64{}
	for _, item := range w.db.Items("Traffic") {
		if parts := strings.Split(item.String("pathDayShard"), "#"); len(parts) == 3 &&
			strings.HasPrefix(parts[1], item.String("period")) && strings.HasPrefix(parts[0], "/api/admin") {
			for status, name := range map[string]string{
				"2xx": "successfulRequests", "4xx": "clientErrors", "5xx": "serverErrors",
			} {
				if n := item.Int(name); n > 0 {
					counted[parts[1]+" "+status] += n
				}
			}
		}
	}
	if !maps.Equal(counted, w.traffic.answered) {
		w.fail("the responses were %v, but %v are counted", w.traffic.answered, counted)
	}
}
