package simulation

import (
	"fmt"
	"net/http"
	"time"
)

// credential is a token that the world has seen, and what it knows about it.
type credential struct {
	text             string
	account, id      int64
	description      string
	subject          string // of a JWT
	created, expires time.Time
	// when the first request to delete it began, and when the first one that succeeded had ended
	revoking, revoked time.Time
}

// name is how the history of the account's tokens calls it.
func (c *credential) name() string { return fmt.Sprintf("%s#%d", c.description, c.id) }

type account struct {
	username          string // in lower case
	deleting, deleted time.Time
	changes           []*disabling
}

// disabling is a command that disables or enables an account.
type disabling struct {
	disabled     bool
	begun, ended time.Time
	done         bool
	writes       *tracked
}

// checkAccepted checks whether the service accepts a credential exactly if it must. The world does not know what must
// happen to a request at the time of a change.
func (w *World) checkAccepted(c *credential, o *op, status int) {
	if c.subject != "" || status >= http.StatusInternalServerError {
		return
	}
	accepted := status != http.StatusUnauthorized
	refuse := func(what string, since time.Time) bool {
		if !since.IsZero() && !since.After(o.begun) {
			if accepted {
				w.fail("%s accepts the token %d of the account %d, which is %s since %s", w.when(o.begun), c.id, c.account, what,
					since.Sub(w.start))
			}
			return true
		}
		return false
	}
	a := w.account(c.account)
	if refuse("deleted", c.revoked) || refuse("without its account", a.deleted) ||
		refuse("expired", c.expires.Add(maxSkew)) {
		return
	}
	disabled, known := a.state(o)
	if known && disabled {
		if accepted {
			w.fail("%s accepts the token %d of the account %d, which is disabled", w.when(o.begun), c.id, c.account)
		}
		return
	}
	before := func(t time.Time) bool { return t.IsZero() || t.After(o.ended) }
	if known && !accepted && before(c.revoking) && before(a.deleting) && c.expires.After(o.ended.Add(maxSkew)) {
		w.fail("%s refuses the token %d of the account %d, which is valid", w.when(o.begun), c.id, c.account)
	}
}

func (w *World) when(t time.Time) string {
	return "at " + t.Sub(w.start).Truncate(time.Microsecond).String() + " the service"
}

// state returns whether an account is disabled for the whole time of an operation. known is false if that depends on
// the order of concurrent changes, or on one whose result is unknown.
func (a *account) state(o *op) (disabled, known bool) {
	var last *disabling
	for _, c := range a.changes {
		if c.done && c.ended.Before(o.begun) && (last == nil || c.begun.After(last.ended)) {
			last = c
		}
	}
	for _, c := range a.changes {
		if c == last || c.begun.After(o.ended) {
			continue
		}
		if last != nil && c.done && (c.until().Before(last.begun) || c.disabled == last.disabled) {
			continue
		}
		if last == nil && !c.disabled { // it is enabled anyway
			continue
		}
		return false, false
	}
	return last != nil && last.disabled, last == nil || last.until().Before(o.begun)
}

// until returns the time of the last write.
func (d *disabling) until() time.Time {
	if d.writes != nil && d.writes.last.After(d.ended) {
		return d.writes.last
	}
	return d.ended
}
