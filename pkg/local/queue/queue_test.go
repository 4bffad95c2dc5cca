package queue_test

import (
	"os"
	"path/filepath"
	"testing"

	"toggleadmin/pkg/local/queue"
)

func TestMessagesAreLines(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "queues")
	for _, message := range []string{`{"a":1}`, `{"b":2}`} { // opened anew: it appends
		if err := queue.Open(dir, "Dead").Send([]byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(filepath.Join(dir, "Dead.jsonl"))
	if err != nil || string(content) != "{\"a\":1}\n{\"b\":2}\n" {
		t.Errorf("%q, %v", content, err)
	}
	if err := queue.Open("", "Dead").Send([]byte("{}")); err != nil {
		t.Error(err)
	}
}
