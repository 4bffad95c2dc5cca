// Package pat manages personal access tokens (PATs): those of service accounts (contract section 4.5) and the
// caller's own (4.7). It also records tokens that are about to expire.
//
// An atomic update of a counter takes the id of a token. Then one transaction writes the token and the map of
// descriptions in the owner's account. It also deletes an expired token with the description or, in a full account, the
// token that expired first. Ids and creation times therefore rise together, a description is unique per account, the
// limit is never exceeded, and a crash causes no partial write. A token contains the key of its item, so that a lookup
// needs no index (access.PATSelector).
package pat

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// PAT is a personal access token without its secret.
type PAT struct {
	ID          int64 // 1 to access.MaxID; higher than the ids of tokens whose creation ended before
	UserID      int64 // its owner
	Description string
	ExpiresAt   time.Time
	CreatedAt   time.Time       // never falls as ids rise, if clocks differ by less than an hour
	SeenAt      *time.Time      // when it last authenticated a request, accurate to a minute; nil: never
	Verifier    access.Verifier // of its secret

	// AnnouncedDays is the lowest threshold at which its expiry was recorded; 0: none.
	AnnouncedDays int64
	LastEvent     int64 // the id of its last event
}

// Expired reports whether the token is no longer valid at now.
func (p PAT) Expired(now time.Time) bool { return !now.Before(p.ExpiresAt) }

// notFound returns the error if a user has no token with the id.
func notFound(userID, id int64) error {
	return apierror.Errorf(apierror.NotFound, "The user %d has no token with the id %d.", userID, id)
}

// MostPerOwner is the maximum number of tokens of any account. It keeps an account's item, with its map of
// descriptions, within one read unit.
const MostPerOwner = 100

// AnyKind stands for people and service accounts.
const AnyKind user.Kind = ""

// Owner is the condition on the account that a new token belongs to.
type Owner struct {
	Kind  user.Kind // or AnyKind
	Limit int       // the maximum number of tokens, including the new one and expired ones that were not deleted
}

// DescriptionKey returns the key of a description in its owner's map: the first 16 bytes of its SHA-256 in base64url.
func DescriptionKey(description string) string {
	sum := sha256.Sum256([]byte(description))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// eventData is a token in the data of events.
type eventData struct {
	ID          string `json:"id"`
	UserID      int64  `json:"userId"`
	Description string `json:"description"`
	ExpiresAt   string `json:"expiresAt"`
}

func (p PAT) eventData() any {
	return eventData{strconv.FormatInt(p.ID, 10), p.UserID, p.Description, datetime.Format(p.ExpiresAt)}
}

// change returns the record of a change of the token. data or preData is nil.
func (p PAT) change(t eventlog.Type, data, preData any) eventlog.Change {
	return eventlog.Change{
		Type: t, Subject: p.Subject(), Last: p.LastEvent, Data: data, PreData: preData,
	}
}

// Subject returns the subject of the events about the token.
func (p PAT) Subject() eventlog.Subject {
	return eventlog.Subject("pat:" + strconv.FormatInt(p.ID, 10))
}

// eventTypes returns the types of the creation and the deletion of a token by an operation on accounts of a kind.
func eventTypes(kind user.Kind) (created, deleted eventlog.Type) {
	if kind == user.ServiceAccount {
		return eventlog.ServiceAccountTokenCreated, eventlog.ServiceAccountTokenDeleted
	}
	return eventlog.PATCreated, eventlog.PATDeleted
}
