package trigger

import (
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Writes notifies streams of transactions, so that they are read at once. Every change of a table with a stream is a
// transaction; those of other processes are found by polling. The zero value is ready for use. It is safe for
// concurrent use.
type Writes struct {
	mu     sync.Mutex
	signal chan struct{} // closed after the next transaction
}

// Client returns an HTTP client that notifies the streams after each transaction that it sends through client.
func (w *Writes) Client(client aws.HTTPClient) aws.HTTPClient { return notifier{w, client} }

type notifier struct {
	writes *Writes
	client aws.HTTPClient
}

// Do implements aws.HTTPClient.
func (n notifier) Do(r *http.Request) (*http.Response, error) {
	response, err := n.client.Do(r)
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		n.writes.happened()
	}
	return response, err
}

// next returns a channel that is closed after the next transaction.
func (w *Writes) next() <-chan struct{} {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.signal == nil {
		w.signal = make(chan struct{})
	}
	return w.signal
}

func (w *Writes) happened() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.signal != nil {
		close(w.signal)
		w.signal = nil
	}
}
