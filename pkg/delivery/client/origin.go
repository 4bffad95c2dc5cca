package client

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/logging"
)

// headerOriginSecret is the header with which a proxy shows that a request came through it.
const headerOriginSecret = "X-Origin-Secret"

const (
	// originSecretLifetime is how long secrets are used before they are read again.
	originSecretLifetime = 5 * time.Minute
	// originSecretPause is the time between attempts to read secrets.
	originSecretPause = 5 * time.Second

	maxOriginSecrets                       = 2
	minOriginSecretLen, maxOriginSecretLen = 32, 128
)

// errOriginSecret is the error for secrets that cannot be used. It does not contain them.
var errOriginSecret = errors.New("must be a text of 32 to 128 visible ASCII characters, or two of these with a space " +
	"between them")

// CheckOriginSecrets returns an error unless a text contains one secret, or two while the secret is rotated. The error
// completes a sentence about a setting.
func CheckOriginSecrets(text string) error {
	_, err := parseOriginSecrets(text)
	return err
}

// parseOriginSecrets returns the digests of secrets.
func parseOriginSecrets(text string) (digests [][sha256.Size]byte, err error) {
	secrets := strings.Fields(text)
	if len(secrets) == 0 || len(secrets) > maxOriginSecrets {
		return nil, errOriginSecret
	}
	for _, secret := range secrets {
		invisible := func(r rune) bool { return r <= ' ' || r > '~' }
		if len(secret) < minOriginSecretLen || len(secret) > maxOriginSecretLen || strings.ContainsFunc(secret, invisible) {
			return nil, errOriginSecret
		}
		digests = append(digests, sha256.Sum256([]byte(secret)))
	}
	return digests, nil
}

// originSecrets are the secrets of which each request must have one. It is safe for concurrent use.
type originSecrets struct {
	read   func(ctx context.Context) (string, error)
	now    func() time.Time
	logger *slog.Logger

	mu      sync.Mutex
	digests [][sha256.Size]byte // none: no secret could be read yet
	next    time.Time           // when they are read again
	cause   error               // of the last attempt
}

// check returns an error unless a request has one of the secrets, or needs none because o is nil. If the secrets have
// never been read, no request is served.
func (o *originSecrets) check(r *http.Request) error {
	if o == nil {
		return nil
	}
	digests, err := o.current(r.Context())
	if err != nil {
		return apierror.NewUnavailable(err)
	}
	sent := sha256.Sum256([]byte(r.Header.Get(headerOriginSecret)))
	matches := 0
	for _, digest := range digests {
		matches += subtle.ConstantTimeCompare(sent[:], digest[:])
	}
	if matches == 0 {
		return apierror.New(apierror.NoAccess,
			"This address accepts only requests of its proxy, which have the header `X-Origin-Secret`.")
	}
	return nil
}

// current returns the digests, and reads the secrets if it is time to. If that fails, the earlier ones remain.
func (o *originSecrets) current(ctx context.Context) ([][sha256.Size]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	if !now.Before(o.next) {
		var digests [][sha256.Size]byte
		text, err := o.read(ctx)
		if err == nil {
			digests, err = parseOriginSecrets(text)
		}
		o.cause, o.next = err, now.Add(originSecretPause)
		if err == nil {
			o.digests, o.next = digests, now.Add(originSecretLifetime)
		} else {
			o.logger.ErrorContext(ctx, "the origin secret cannot be read or used", logging.Cause(err),
				slog.Bool("earlierIsUsed", len(o.digests) > 0))
		}
	}
	if len(o.digests) == 0 {
		return nil, o.cause
	}
	return o.digests, nil
}
