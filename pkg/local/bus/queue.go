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
	"toggleadmin/pkg/local/samtemplate"
)

// Message is a message of a queue. The file of the message contains the exported fields.
type Message struct {
	Body         string    `json:"body"`
	SentAt       time.Time `json:"sentAt"`
	VisibleAt    time.Time `json:"visibleAt"`
	ReceiveCount int       `json:"receiveCount"`

	id, receiptHandle string
}

// ID returns the message's id.
func (m *Message) ID() string { return m.id }

// ReceiptHandle returns the handle of the last receive.
func (m *Message) ReceiptHandle() string { return m.receiptHandle }

// Queue is a queue. It is safe for concurrent use.
type Queue struct {
	samtemplate.Queue
	bus    *Bus
	folder string

	mu       sync.Mutex
	messages []*Message          // in their order
	received map[string]*Message // by the receipt handle of the last receive
}

// order compares messages. The first one became or becomes visible before the others.
func order(a, b *Message) int {
	return cmp.Or(a.VisibleAt.Compare(b.VisibleAt), strings.Compare(a.id, b.id))
}

func (q *Queue) insert(m *Message) {
	i, _ := slices.BinarySearchFunc(q.messages, m, order)
	q.messages = slices.Insert(q.messages, i, m)
}

func (q *Queue) take(m *Message) {
	i, _ := slices.BinarySearchFunc(q.messages, m, order)
	q.messages = slices.Delete(q.messages, i, i+1)
}

// open reads the messages of earlier processes.
func (q *Queue) open() error {
	if err := os.MkdirAll(q.folder, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(q.folder) // sorted by name: ids are sorted by time
	if err != nil {
		return err
	}
	for _, file := range files {
		path := filepath.Join(q.folder, file.Name())
		if strings.HasSuffix(file.Name(), datafile.Temporary) { // of a killed process, which has not accepted the message
			_ = os.Remove(path)
			continue
		}
		m := &Message{id: file.Name()}
		content, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(content, m)
		}
		if err != nil {
			return fmt.Errorf("read a message (delete %s to lose it): %w", path, err)
		}
		q.insert(m)
	}
	return nil
}

// store writes the file of a message.
func (q *Queue) store(m *Message) error {
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return datafile.Replace(filepath.Join(q.folder, m.id), content)
}

// Send adds a message. It returns nil after the file of the message is written.
func (q *Queue) Send(body string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.bus.Now()
	m := &Message{id: q.bus.NewID(), Body: body, SentAt: now, VisibleAt: now}
	if err := q.store(m); err != nil {
		return err
	}
	q.insert(m)
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
		delete(q.received, m.receiptHandle)
		m.ReceiveCount++
		m.receiptHandle = q.bus.NewID()
		q.received[m.receiptHandle] = m
		q.hide(m, now.Add(q.VisibilityTimeout))
		received = append(received, *m)
	}
	return received
}

// hide makes a message visible at a time.
func (q *Queue) hide(m *Message, until time.Time) {
	q.take(m)
	m.VisibleAt = until
	q.insert(m)
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
		if m := q.received[processed[i].receiptHandle]; m != nil {
			q.remove(m)
		}
	}
}

// errReceiptHandle is the error for a handle that is not that of the last receive of a message.
var errReceiptHandle = errors.New("the receipt handle is not valid")

// ChangeVisibility makes a message that was received visible after d.
func (q *Queue) ChangeVisibility(receiptHandle string, d time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.received[receiptHandle]
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
	if err := os.Remove(filepath.Join(q.folder, m.id)); err != nil {
		q.bus.Logger.Warn("a message cannot be deleted: it is delivered again after a restart", slog.Any("cause", err))
	}
	delete(q.received, m.receiptHandle)
	q.take(m)
}
