package counting

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/logging"
)

// seenEvery is how old the stored time of the last use of a token can become.
const seenEvery = time.Hour

// maxAttempted is the number of tokens from which those that are due again are forgotten.
const maxAttempted = 5_000

// SeenTokens updates when tokens were last used. It is safe for concurrent use.
type SeenTokens struct {
	store  tokenStore
	now    func() time.Time
	logger *slog.Logger

	mu        sync.Mutex
	attempted map[access.Selector]time.Time // in the last hour, or longer ago
}

// NewSeenTokens returns a SeenTokens.
func NewSeenTokens(c Config) *SeenTokens {
	return &SeenTokens{
		store:     tokenStore{c.DynamoDB, c.Tables[clienttokentable.Table]},
		now:       c.Now,
		logger:    c.Logger,
		attempted: map[access.Selector]time.Time{},
	}
}

// StartUpdate starts to update when a token that was read was last used, if what is stored is an hour old, and returns
// what waits for that. A process tries it once an hour, whether or not it succeeds.
func (s *SeenTokens) StartUpdate(ctx context.Context, token clienttokentable.Token) *sync.WaitGroup {
	var updating sync.WaitGroup
	now := s.now()
	if !s.isDue(token, now) {
		return &updating
	}
	updating.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, writeTimeout)
		defer cancel()
		if err := s.store.setSeenAt(ctx, token.Selector, now); err != nil {
			s.logger.WarnContext(ctx, "the last use of a token was not written", logging.Cause(err))
		}
	})
	return &updating
}

// isDue reports whether a token must be updated. The next time is in an hour.
func (s *SeenTokens) isDue(token clienttokentable.Token, now time.Time) bool {
	if token.SeenAt != nil && now.Sub(*token.SeenAt) < seenEvery {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.attempted[token.Selector]) < seenEvery {
		return false
	}
	if len(s.attempted) >= maxAttempted {
		maps.DeleteFunc(s.attempted, func(_ access.Selector, at time.Time) bool { return now.Sub(at) >= seenEvery })
	}
	s.attempted[token.Selector] = now
	return true
}
