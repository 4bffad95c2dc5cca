package installation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"toggleadmin/pkg/exitstatus"
	"toggleadmin/pkg/webhook"
)

// filePollInterval is the time between two looks at the end of the archive of the local service.
const filePollInterval = 200 * time.Millisecond

// followArchive is FollowEvents for the local service, whose archive has a line for each event.
func (i *Installation) followArchive(ctx context.Context, since time.Time, emit func(json.RawMessage) error) error {
	file, err := os.Open(i.archive)
	if err != nil {
		return fmt.Errorf("open the archive of events: %w", err)
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for part := []byte(nil); ; {
		text, err := lines.ReadBytes('\n')
		part = append(part, text...)
		switch {
		case errors.Is(err, io.EOF): // the rest of the line is not written yet
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(filePollInterval):
			}
			continue
		case err != nil:
			return fmt.Errorf("read the archive of events: %w", err)
		}
		if line, ok := parseLine(part); ok && !line.Time.Before(since) {
			if err := emit(line.Event); err != nil {
				return err
			}
		}
		part = part[:0]
	}
}

// sendArchived is ReplayEvents for the local service. It sends the events to the webhook itself and returns their number.
func (i *Installation) sendArchived(ctx context.Context, since time.Time, now func() time.Time) (int, error) {
	if i.webhookURL == "" {
		return 0, exitstatus.Errorf(exitstatus.Rejected, "the local service has no webhook: start it with `make run WEBHOOK_URL=http://127.0.0.1:4000`")
	}
	client, err := webhook.NewClient(i.webhookURL, true, now)
	if err != nil {
		return 0, err
	}
	secrets, err := webhook.ParseSecrets(i.webhookSecret)
	if err != nil {
		return 0, err
	}
	content, err := os.ReadFile(i.archive)
	if err != nil {
		return 0, fmt.Errorf("read the archive of events: %w", err)
	}
	sent := 0
	for text := range bytes.Lines(content) {
		line, ok := parseLine(text)
		if !ok || line.Time.Before(since) {
			continue
		}
		var event struct{ ID string }
		if err := json.Unmarshal(line.Event, &event); err != nil {
			continue
		}
		if err := client.Send(ctx, event.ID, line.Event, secrets); err != nil && !errors.Is(err, webhook.ErrGone) {
			return sent, fmt.Errorf("send event %s to the webhook, after %d others: %w", event.ID, sent, err)
		}
		sent++
	}
	return sent, nil
}

// archived is a line of the archive.
type archived struct {
	Time  time.Time
	Event json.RawMessage
}

// parseLine reads a line. A killed process can leave one that is incomplete.
func parseLine(text []byte) (archived, bool) {
	var line archived
	err := json.Unmarshal(text, &line)
	return line, err == nil
}
