package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"toggleadmin/pkg/platform/issuerurl"
)

const (
	fetchTimeout  = 2 * time.Second  // the default of Config
	fetchInterval = 30 * time.Second // from the end of one fetch to the next one
	maxAge        = time.Hour        // a value is then refreshed in the background
	maxIdleAge    = 2 * time.Hour    // a request then waits for the refresh, see get
	maxDocument   = 1 << 20          // bytes
	maxRedirects  = 3
)

// source keeps the latest value that was fetched. All callers share one fetch at a time, and there is at most one fetch
// per fetchInterval.
type source[T any] struct {
	name    string
	fetch   func(context.Context) (T, error)
	timeout time.Duration // of one fetch
	now     func() time.Time
	logger  *slog.Logger

	mu      sync.Mutex
	value   T
	err     error         // of the last fetch
	fetched time.Time     // when the value was fetched; zero: there is none
	ended   time.Time     // when the last fetch ended; zero: there was none
	running chan struct{} // closed when the running fetch ends; nil: none is running
}

// get returns the latest value. If that value does not suffice, and a fetch is running or may begin, get waits for its
// end. The error is the error of the last fetch. After an error, the value of an earlier fetch remains.
//
// Lambda stops the process between requests, and with it a refresh in the background: if requests are rare, none
// succeeds. Therefore, get also waits if the value is older than maxIdleAge.
func (s *source[T]) get(ctx context.Context, suffices func(T) bool) (T, error) {
	s.mu.Lock()
	now := s.wallClock()
	age := now.Sub(s.fetched)
	known := !s.fetched.IsZero() && suffices(s.value) && age < maxIdleAge
	if s.running == nil && (!known || age >= maxAge) && (s.ended.IsZero() || now.Sub(s.ended) >= fetchInterval) {
		s.running = make(chan struct{})
		go s.run(context.WithoutCancel(ctx), s.running)
	}
	running := s.running
	if known || running == nil {
		defer s.mu.Unlock()
		return s.value, s.err
	}
	s.mu.Unlock()
	select {
	case <-running:
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value, s.err
}

// wallClock returns the time without the monotonic clock, which can stand still while Lambda stops the process.
func (s *source[T]) wallClock() time.Time { return s.now().Round(0) }

// run fetches the value. It does not end with the request that began it, because other requests wait for it too.
func (s *source[T]) run(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	value, err := s.fetch(ctx)
	if err != nil {
		s.logger.WarnContext(ctx, "fetch from the issuer", slog.String("document", s.name), slog.String("cause", err.Error()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.err, s.ended = nil, err, s.wallClock()
	if err == nil {
		s.value, s.fetched = value, s.ended
	}
	close(done)
}

func newClient(c Config) *http.Client {
	transport := c.Transport
	if transport == nil {
		// A connection would be closed before the next fetch.
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true,
			MaxResponseHeaderBytes: maxDocument}
	}
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
			return errors.New("rejected redirect to another host or scheme, or too many redirects")
		}
		return nil
	}}
}

// getJSON reads a JSON document of the issuer.
func (i *Issuer) getJSON(ctx context.Context, address string, to any) error {
	if err := issuerurl.CheckDocument(address, i.config.Loopback); err != nil {
		return fmt.Errorf("the URL %q: %w", address, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Accept-Encoding", "identity") // so the transport does not decompress
	response, err := i.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", address, response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return fmt.Errorf("GET %s: %w", address, err)
	}
	if len(body) > maxDocument {
		return fmt.Errorf("GET %s: the document is larger than %d bytes", address, maxDocument)
	}
	if err := json.Unmarshal(body, to); err != nil {
		return fmt.Errorf("GET %s: %w", address, err)
	}
	return nil
}
