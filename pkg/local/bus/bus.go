package bus

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"toggleadmin/pkg/local/linefile"
	"toggleadmin/pkg/local/samtemplate"
)

// Folders of DATA_DIR.
const (
	stateFolder      = "events"
	deadLetterFolder = "queues"
)

// Config is the configuration of a Bus.
type Config struct {
	Template  *samtemplate.Template
	DataDir   string // DATA_DIR; empty: a temporary folder, which Close deletes
	Parameter string // the value of every parameter of Parameter Store

	Now    func() time.Time
	NewID  func() string // returns a UUID; later ones sort after earlier ones
	Logger *slog.Logger
}

// Bus is the bus with its queues. It is safe for concurrent use.
type Bus struct {
	Config
	temporary string // folder that Close deletes
	queues    map[string]*Queue
}

// Open returns the bus with the messages of earlier processes.
func Open(c Config) (*Bus, error) {
	b := &Bus{Config: c, queues: map[string]*Queue{}}
	if b.DataDir == "" {
		var err error
		if b.temporary, err = os.MkdirTemp("", "toggleadmin-queues-"); err != nil {
			return nil, fmt.Errorf("create the folder for queues: %w", err)
		}
		b.DataDir = b.temporary
	}
	err := os.MkdirAll(filepath.Join(b.DataDir, deadLetterFolder), 0o700)
	for _, rule := range c.Template.Rules {
		err = errors.Join(err, b.openQueue(rule.Queue))
	}
	if err != nil {
		b.Close()
		return nil, fmt.Errorf("open the queues: %w", err)
	}
	return b, nil
}

// openQueue opens a queue that is the target of a rule.
func (b *Bus) openQueue(id string) error {
	for _, found := range b.Template.Queues {
		if found.LogicalID != id {
			continue
		}
		q := &Queue{
			Queue: found, folder: filepath.Join(b.DataDir, stateFolder, "queue-"+id), now: b.Now, newID: b.NewID,
			logger: b.Logger,
			sent:   make(chan struct{}, 1), received: map[string]*Message{},
			discard: func(body string) error { return b.discard(found.DeadLetterQueue, body) },
		}
		b.queues[id] = q
		return q.open()
	}
	return fmt.Errorf("the template has no queue %s", id)
}

// discard stores a message in the file of a dead-letter queue.
func (b *Bus) discard(queue, body string) error {
	return linefile.Append(filepath.Join(b.DataDir, deadLetterFolder, queue+".jsonl"), []byte(body))
}

// Queue returns the queue with a logical id, or nil.
func (b *Bus) Queue(id string) *Queue { return b.queues[id] }

// Close deletes a temporary folder.
func (b *Bus) Close() {
	if b.temporary != "" {
		_ = os.RemoveAll(b.temporary)
	}
}
