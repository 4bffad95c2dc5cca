package runtimeapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// Answer is what a function posted for one event.
type Answer struct {
	Body []byte
	// Failed: the body is the error object {"errorMessage", "errorType"} of an error that the handler returned, or of a panic.
	Failed bool
}

// server is the Runtime API of one process, which has one event at a time. Safe for concurrent use.
type server struct {
	limit   time.Duration // what an event is told that it has
	http    *httptest.Server
	polled  chan struct{} // closed at the first GET of the next event
	events  chan []byte
	answers chan Answer

	poll     sync.Once
	mu       sync.Mutex
	sequence int
}

func newServer(limit time.Duration) *server {
	s := &server{limit: limit, polled: make(chan struct{}), events: make(chan []byte), answers: make(chan Answer, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", s.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", s.accept(false))
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", s.accept(true))
	s.http = httptest.NewServer(mux)
	return s
}

func (s *server) address() string { return s.http.Listener.Addr().String() }

// close ends the server at once, a waiting poll with it.
func (s *server) close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// next holds the poll until there is an event, as long as that takes.
func (s *server) next(w http.ResponseWriter, r *http.Request) {
	s.poll.Do(func() { close(s.polled) })
	select {
	case <-r.Context().Done():
	case event := <-s.events:
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", s.nextID())
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(s.limit).UnixMilli(), 10))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-west-1:123456789012:function:sample")
		w.Header().Set("Lambda-Runtime-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=0")
		_, _ = w.Write(event) // a process that has gone is noticed by its end
	}
}

// accept takes the answer to the event that is under way; one to any other is refused, as Lambda does.
func (s *server) accept(failed bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.PathValue("id") != s.currentID() {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.answers <- Answer{Body: body, Failed: failed}
		w.WriteHeader(http.StatusAccepted)
	}
}

func (s *server) nextID() string {
	s.mu.Lock()
	s.sequence++
	s.mu.Unlock()
	return s.currentID()
}

func (s *server) currentID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "00000000-0000-4000-8000-" + strconv.Itoa(100000000000+s.sequence)
}
