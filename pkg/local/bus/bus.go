package bus

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toggleadmin/pkg/local/datafile"
	"toggleadmin/pkg/samtemplate"
)

// Folders of DATA_DIR.
const (
	stateFolder      = "events"
	deadLetterFolder = "queues"
)

// Config is the configuration of a Bus.
type Config struct {
	Template   *samtemplate.Template
	DataDir    string            // created if missing
	Parameters map[string]string // of Parameter Store, by name

	Now    func() time.Time
	NewID  func() string // returns a UUID; later ones sort after earlier ones
	Logger *slog.Logger
}

// Bus is the bus with its queues. It is safe for concurrent use.
type Bus struct {
	Config
	queues map[string]*Queue
}

// Open returns the bus with the messages of earlier processes.
func Open(c Config) (*Bus, error) {
	b := &Bus{Config: c, queues: map[string]*Queue{}}
	err := os.MkdirAll(filepath.Join(b.DataDir, deadLetterFolder), 0o700)
	for _, q := range c.Template.Queues {
		if slices.ContainsFunc(c.Template.Rules, func(r samtemplate.Rule) bool { return r.Queue == q.LogicalID }) {
			err = errors.Join(err, b.openQueue(q))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the queues: %w", err)
	}
	return b, nil
}

// Discard appends a message, of one line, to the file of a queue that no function reads.
func (b *Bus) Discard(queue, body string) error {
	return datafile.Append(filepath.Join(b.DataDir, deadLetterFolder, queue+".jsonl"), []byte(body))
}

// Queue returns the queue with a logical id, or nil.
func (b *Bus) Queue(id string) *Queue { return b.queues[id] }
