// Package pat is the personal access tokens of people and service accounts: creating one for a service account (4.5) and deleting one
// of the caller's own (4.7).
//
// The one concept: a PAT, the counter of ids, and its owner's map of descriptions are written in one transaction. So ids rise in the
// order of commits, a description is unique for its owner, the limit holds, and a crash leaves nothing half made. A PAT's token says
// where it is stored, so looking it up needs no index (auth.PATSelector).
package pat

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/user"
)

// PAT is a personal access token, without its secret.
type PAT struct {
	ID          int64 // 1 to auth.MaxID; a later-created one is higher
	UserID      int64 // its owner
	Description string
	ExpiresAt   time.Time
	CreatedAt   time.Time
	SeenAt      *time.Time    // when it last authenticated a request, to within a minute; nil: never
	Verifier    auth.Verifier // of its secret
}

// Expired says whether the token has ceased to be valid at now.
func (p PAT) Expired(now time.Time) bool { return !now.Before(p.ExpiresAt) }

// What a Creator and a Deleter refuse.
var (
	ErrNoOwner           = errors.New("no account of that kind with that id")
	ErrTooMany           = errors.New("the account has as many tokens as it may")
	ErrDescriptionExists = errors.New("the account has a token with that description")
	ErrNotFound          = errors.New("the user has no such token")
	errNoIDsLeft         = errors.New("all ids of tokens are used up")
	errBehind            = errors.New("the counter of PATs is behind: the next id is taken")
)

// MostPerOwner is the most PATs that any account may have: its map of descriptions then keeps its item within one read unit.
const MostPerOwner = 100

// Owner is what the account must be for a PAT to be created.
type Owner struct {
	Kind  user.Kind
	Limit int // the most PATs that it may have, the new one and expired ones counted
}

// Creator stores a new PAT of the account p.UserID under the next id and gives its token. It writes all or nothing and refuses with
// ErrNoOwner, ErrTooMany or ErrDescriptionExists, in this order. p.ID and p.Verifier are not read. When it was interrupted between
// writing and hearing of it, it finds out, and does not leave a PAT behind whose token nobody has.
type Creator interface {
	Create(ctx context.Context, p PAT, owner Owner) (PAT, auth.Token, error)
}

// Deleter deletes a PAT of a user, or gives ErrNotFound where that user has none with that id.
type Deleter interface {
	Delete(ctx context.Context, userID, id int64) error
}

// DescriptionKey is how a description stands in its owner's map: the first 16 bytes of its SHA-256 in base64url.
func DescriptionKey(description string) string {
	sum := sha256.Sum256([]byte(description))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
