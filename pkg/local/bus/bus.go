package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"toggleadmin/pkg/local/linefile"
	"toggleadmin/pkg/samtemplate"
)

// Folders of DATA_DIR.
const (
	stateFolder      = "events"
	deadLetterFolder = "queues"
	// archiveFile has a line for each event. toggleadmin reads it.
	archiveFile = "sent.jsonl"
)

// Config is the configuration of a Bus.
type Config struct {
	Template  *samtemplate.Template
	DataDir   string // DATA_DIR; empty: a temporary folder, which Close deletes
	Parameter string // the value of every parameter of Parameter Store

	Now    func() time.Time
	NewID  func() string // returns a UUID; later ones sort behind earlier ones
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
	if err == nil {
		err = b.createArchive()
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
			Queue: found, folder: filepath.Join(b.DataDir, stateFolder, "queue-"+id), now: b.Now, newID: b.NewID, logger: b.Logger,
			sent: make(chan struct{}, 1), received: map[string]*Message{},
			discard: func(body string) error {
				return linefile.Append(filepath.Join(b.DataDir, deadLetterFolder, found.DeadLetterQueue+".jsonl"), []byte(body))
			},
		}
		b.queues[id] = q
		return q.open()
	}
	return fmt.Errorf("the template has no queue %s", id)
}

// createArchive creates the file of the archive if it is missing.
func (b *Bus) createArchive() error {
	if err := os.MkdirAll(filepath.Dir(b.archive()), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(b.archive(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

func (b *Bus) archive() string { return filepath.Join(b.DataDir, stateFolder, archiveFile) }

// record appends an event to the archive.
func (b *Bus) record(event string) error {
	line, err := json.Marshal(struct {
		Time  time.Time       `json:"time"`
		Event json.RawMessage `json:"event"`
	}{b.Now(), json.RawMessage(event)})
	if err == nil {
		err = linefile.Append(b.archive(), line)
	}
	return err
}

// Queue returns the queue with a logical id, or nil.
func (b *Bus) Queue(id string) *Queue { return b.queues[id] }

// Close deletes a temporary folder.
func (b *Bus) Close() {
	if b.temporary != "" {
		_ = os.RemoveAll(b.temporary)
	}
}
