package oidc

import (
	"context"
	"slices"
	"sync"
	"time"

	"toggleadmin/pkg/platform/issuerurl"
)

const (
	maxIssuers  = 5              // whose keys a process keeps
	maxWorkload = 24 * time.Hour // the longest life of a token of a workload
)

// Issuers verifies the tokens of workloads, such as the jobs of a pipeline, of any issuers. It keeps the keys of the five
// that were used last. It is safe for concurrent use.
type Issuers struct {
	config Config

	mu  sync.Mutex
	all []*Issuer // the one that was used last is the last one
}

// NewIssuers returns Issuers. Of the configuration, it uses neither the issuer nor the client ID nor the claim of groups.
func NewIssuers(c Config) *Issuers {
	c.Issuer, c.ClientID, c.GroupsClaim = "", "", ""
	return &Issuers{config: c}
}

// Verify returns nil if an issuer has signed a token for an audience, and the token is valid now and lives for at most 24
// hours. Otherwise its error is a *RejectedError. The caller trusts the issuer: Verify fetches its keys. It may wait for
// them, at most two seconds.
func (s *Issuers) Verify(ctx context.Context, t Token, issuer, audience string) error {
	if issuerurl.Check(issuer, s.config.Loopback) != nil {
		return &RejectedError{WrongIssuer}
	}
	return s.of(issuer).verify(ctx, t, audience, maxWorkload)
}

// of returns an issuer, and forgets the one that was used least recently if there are too many.
func (s *Issuers) of(url string) *Issuer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *Issuer
	if i := slices.IndexFunc(s.all, func(known *Issuer) bool { return known.URL() == url }); i >= 0 {
		found = s.all[i]
		s.all = slices.Delete(s.all, i, i+1)
	} else {
		c := s.config
		c.Issuer = url
		found = newIssuer(c)
	}
	s.all = append(s.all, found)
	if len(s.all) > maxIssuers {
		s.all = slices.Delete(s.all, 0, 1)
	}
	return found
}
