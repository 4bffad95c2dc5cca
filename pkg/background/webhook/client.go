package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"toggleadmin/pkg/platform/loopback"
)

const (
	timeout         = 5 * time.Second // of a request, from the connection to the end of the response
	maxResponse     = 64 << 10        // what is read of a response, so that the connection can be used again
	idleConnections = 16
)

var (
	// ErrNotPermitted is the error for an address that must not receive events.
	ErrNotPermitted = errors.New("the address is not permitted")
	// ErrGone is the error of a webhook that responds with 410 Gone: the event must not be sent again.
	ErrGone = errors.New("the webhook responds with 410")
	// ErrURL is the error for a URL that cannot be used. It does not contain the URL, which can contain a secret.
	ErrURL = errors.New("the URL must begin with https:// and a public host, or in local development with http:// and a " +
		"loopback address, and its port must be from 1 to 65535")
)

// Client sends events to one URL. It is safe for concurrent use.
type Client struct {
	url  string
	http *http.Client
	now  func() time.Time
}

// NewClient returns a client, or ErrURL. A URL with https:// must lead to public addresses. With allowLoopback, which is
// for development, it can begin with http:// and name a loopback address or localhost.
func NewClient(address string, allowLoopback bool, now func() time.Time) (*Client, error) {
	u, err := url.Parse(address)
	permitted := isPublic
	switch {
	case err != nil || u.Hostname() == "" || !validPort(u.Port()):
		return nil, ErrURL
	case u.Scheme == "https":
	case u.Scheme == "http" && allowLoopback && loopback.IsHost(u.Hostname()):
		permitted = loopback.IsAddress
	default:
		return nil, ErrURL
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !permitted(a) {
		return nil, ErrURL
	}
	return &Client{url: address, now: now, http: &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{ // without a proxy: it would resolve the name
			DialContext: dialer(permitted).DialContext, ForceAttemptHTTP2: true,
			MaxIdleConns: idleConnections, MaxIdleConnsPerHost: idleConnections, IdleConnTimeout: time.Minute,
		},
	}}, nil
}

// validPort reports whether a port, which can be empty, is one of TCP.
func validPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && port > 0
}

// Send makes one attempt to deliver an event. The signature contains the time, so each attempt has its own.
func (c *Client) Send(ctx context.Context, id string, body []byte, secrets []*standardwebhooks.Webhook) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return ErrURL
	}
	at := c.now()
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		if signatures[i], err = secret.Sign(id, at, body); err != nil {
			return fmt.Errorf("sign: %w", err)
		}
	}
	request.Header.Set("Content-Type", "application/cloudevents+json")
	request.Header.Set("User-Agent", "toggleadmin")
	request.Header.Set(standardwebhooks.HeaderWebhookID, id)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	// is not sent. net/http repeats the request if an idle connection was closed meanwhile
	request.Header["Idempotency-Key"] = nil
	response, err := c.http.Do(request)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the URL
		}
		return err
	}
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse) // the status decides
	_ = response.Body.Close()
	switch {
	case response.StatusCode/100 == 2:
		return nil
	case response.StatusCode == http.StatusGone:
		return ErrGone
	}
	return fmt.Errorf("the webhook responds with %d", response.StatusCode)
}
