package bus

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toggleadmin/pkg/local/datafile"
	"toggleadmin/pkg/samtemplate"
)

// Message is a message of a queue. Its file has the id as its name.
type Message struct {
	ID            string    `json:"-"`
	Body          string    `json:"body"`
	SentAt        time.Time `json:"sentAt"`
	VisibleAt     time.Time `json:"visibleAt"`
	ReceiveCount  int       `json:"receiveCount"`
	ReceiptHandle string    `json:"-"` // of the last receive of this process
}

// Queue is a queue. It is safe for concurrent use.
type Queue struct {
	samtemplate.Queue
	bus    *Bus
	folder string

	mu       sync.Mutex
	messages []*Message // the first one became or becomes visible before the others
}

// sort restores the order of the messages. It takes linear time if one message is not in its place.
func (q *Queue) sort() {
	slices.SortFunc(q.messages, func(a, b *Message) int {
		return cmp.Or(a.VisibleAt.Compare(b.VisibleAt), strings.Compare(a.ID, b.ID))
	})
}

// received returns the message with this handle of its last receive, or nil.
func (q *Queue) received(receiptHandle string) *Message {
	for _, m := range q.messages {
		if m.ReceiptHandle == receiptHandle {
			return m
		}
	}
	return nil
}

// openQueue opens a queue with the messages of earlier processes.
func (b *Bus) openQueue(declared samtemplate.Queue) error {
	q := &Queue{Queue: declared, bus: b, folder: filepath.Join(b.DataDir, stateFolder, "queue-"+declared.LogicalID)}
	b.queues[q.LogicalID] = q
	if err := os.MkdirAll(q.folder, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(q.folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		path := filepath.Join(q.folder, file.Name())
		if strings.HasSuffix(file.Name(), datafile.Temporary) { // of a killed process, which has not accepted the message
			_ = os.Remove(path)
			continue
		}
		m := &Message{ID: file.Name()}
		content, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(content, m)
		}
		if err != nil {
			return fmt.Errorf("read a message (delete %s to discard the message): %w", path, err)
		}
		q.messages = append(q.messages, m)
	}
	q.sort()
	return nil
}

// store writes the file of a message.
func (q *Queue) store(m *Message) error {
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return datafile.Replace(filepath.Join(q.folder, m.ID), content)
}

// Send adds a message. It returns nil after the file of the message is written.
func (q *Queue) Send(body string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.bus.Now()
	m := &Message{ID: q.bus.NewID(), Body: body, SentAt: now, VisibleAt: now}
	if err := q.store(m); err != nil {
		return err
	}
	q.messages = append(q.messages, m)
	q.sort()
	return nil
}

// Receive returns at most n visible messages, those first that have been visible for longest, and makes them invisible
// for the queue's VisibilityTimeout. A message that was received MaxReceiveCount times is moved to the dead-letter
// queue instead.
func (q *Queue) Receive(n int) (received []Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for now := q.bus.Now(); len(received) < n && len(q.messages) > 0; {
		m := q.messages[0]
		switch {
		case m.VisibleAt.After(now):
			return received
		case q.DeadLetterQueue != "" && m.ReceiveCount >= q.MaxReceiveCount:
			q.moveToDeadLetters(m, now)
			continue
		}
		m.ReceiveCount++
		m.ReceiptHandle = q.bus.NewID()
		q.hide(m, now.Add(q.VisibilityTimeout))
		received = append(received, *m)
	}
	return received
}

// hide makes a message visible at a time.
func (q *Queue) hide(m *Message, until time.Time) {
	m.VisibleAt = until
	q.sort()
}

func (q *Queue) moveToDeadLetters(m *Message, now time.Time) {
	log := q.bus.Logger.With(slog.String("queue", q.DeadLetterQueue), slog.String("message", m.Body))
	if err := q.bus.Discard(q.DeadLetterQueue, m.Body); err != nil {
		q.hide(m, now.Add(q.VisibilityTimeout))
		log.Error("a message cannot be moved to the dead-letter queue", slog.Any("cause", err))
		return
	}
	log.Error("a message is moved to the dead-letter queue")
	q.remove(m)
}

// Delete deletes messages that were received.
func (q *Queue) Delete(processed []Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range processed {
		if m := q.received(processed[i].ReceiptHandle); m != nil {
			q.remove(m)
		}
	}
}

// errReceiptHandle is the error for a handle that does not belong to the last receive of a message.
var errReceiptHandle = errors.New("the receipt handle is not valid")

// ChangeVisibility makes a message that was received visible after d.
func (q *Queue) ChangeVisibility(receiptHandle string, d time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.received(receiptHandle)
	if m == nil {
		return errReceiptHandle
	}
	changed := *m
	changed.VisibleAt = q.bus.Now().Add(d)
	if err := q.store(&changed); err != nil {
		return err
	}
	q.hide(m, changed.VisibleAt)
	return nil
}

func (q *Queue) remove(m *Message) {
	if err := os.Remove(filepath.Join(q.folder, m.ID)); err != nil {
		q.bus.Logger.Warn("a message cannot be deleted: it is delivered again after a restart", slog.Any("cause", err))
	}
	q.messages = slices.DeleteFunc(q.messages, func(other *Message) bool { return other == m })
}
