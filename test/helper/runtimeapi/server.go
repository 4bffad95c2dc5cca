package runtimeapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Response is what a function posted for an event.
type Response struct {
	Body []byte
	// Failed: the handler returned an error or panicked. The body is the error object {"errorMessage", "errorType"}.
	Failed bool
}

// server is the Runtime API of one process. It is safe for concurrent use.
type server struct {
	timeout   time.Duration
	http      *httptest.Server
	polled    chan struct{} // closed when the first event is requested
	events    chan []byte
	responses chan Response

	poll     sync.Once
	sequence atomic.Int64 // the number of events
}

func newServer(timeout time.Duration) *server {
	s := &server{timeout: timeout, polled: make(chan struct{}), events: make(chan []byte),
		responses: make(chan Response, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", s.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", s.accept(false))
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", s.accept(true))
	s.http = httptest.NewServer(mux)
	return s
}

func (s *server) address() string { return s.http.Listener.Addr().String() }

// close ends the server and a waiting request.
func (s *server) close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// next responds when there is an event.
func (s *server) next(w http.ResponseWriter, r *http.Request) {
	s.poll.Do(func() { close(s.polled) })
	select {
	case <-r.Context().Done():
	case event := <-s.events:
		s.sequence.Add(1)
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", s.id())
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(s.timeout).UnixMilli(), 10))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-west-1:123456789012:function:sample")
		w.Header().Set("Lambda-Runtime-Trace-Id",
			"Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=0")
		_, _ = w.Write(event)
	}
}

// accept accepts the response to the current event. Like Lambda, it rejects a response to another one.
func (s *server) accept(failed bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.PathValue("id") != s.id() {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.responses <- Response{Body: body, Failed: failed}
		w.WriteHeader(http.StatusAccepted)
	}
}

// id returns the ID of the current event.
func (s *server) id() string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", s.sequence.Load()) }
