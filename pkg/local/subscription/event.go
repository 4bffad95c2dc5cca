package subscription

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

type dataJSON struct {
	MessageType         string      `json:"messageType"`
	Owner               string      `json:"owner"`
	LogGroup            string      `json:"logGroup"`
	LogStream           string      `json:"logStream"`
	SubscriptionFilters []string    `json:"subscriptionFilters"`
	LogEvents           []eventJSON `json:"logEvents"`
}

type eventJSON struct {
	ID        string `json:"id"`
	Timestamp int64  `json:"timestamp"`
	Message   string `json:"message"`
}

// event makes a batch's event and says how many lines it has. The same lines make the same event.
func (s *Subscription) event(batch span, content []byte) (payload []byte, n int, err error) {
	stream := sha256.Sum256([]byte(batch.Segment))
	data := dataJSON{
		MessageType: "DATA_MESSAGE", Owner: s.config.Owner, LogGroup: s.config.LogGroup, LogStream: hex.EncodeToString(stream[:16]),
		SubscriptionFilters: []string{s.config.Filter},
	}
	offset := batch.From
	for line := range bytes.Lines(content) {
		time, message, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		if at, err := strconv.ParseInt(string(time), 10, 64); err == nil {
			data.LogEvents = append(data.LogEvents, eventJSON{id(at, batch.Segment, offset), at, string(message)})
		}
		offset += int64(len(line))
	}
	plain, err := json.Marshal(data)
	if err != nil {
		return nil, 0, fmt.Errorf("encode lines of the access log: %w", err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, 0, fmt.Errorf("pack lines of the access log: %w", err)
	}
	_, err = w.Write(plain)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, 0, fmt.Errorf("pack lines of the access log: %w", err)
	}
	return []byte(`{"awslogs":{"data":"` + base64.StdEncoding.EncodeToString(packed.Bytes()) + `"}}`), len(data.LogEvents), nil
}

// id is a line's: 56 digits, of which time, file and place in it are part.
func id(at int64, segment string, offset int64) string {
	return fmt.Sprintf("3%013d%s%022d", at, segment, offset)
}
