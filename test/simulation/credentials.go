package simulation

import (
	"fmt"
	"net/http"
	"time"

	"toggleadmin/pkg/platform/datetime"
)

// credential is a token that the world has seen, and what it knows about it.
type credential struct {
	text        string
	account, id int64
	description string
	subject     string // of a JWT
	expires     time.Time
	deletion
}

// deletion is when the first request to delete something began, and when the first one that succeeded had ended.
type deletion struct{ deleting, deleted time.Time }

// name is how the history of the account's tokens calls it.
func (c *credential) name() string { return tokenName(c.description, c.id, c.expires) }

func tokenName(description string, id int64, expires time.Time) string {
	return fmt.Sprintf("%s#%d@%s", description, id, datetime.Format(expires))
}

// checkAccepted checks whether the service accepts a credential exactly if it must. The world does not know what must
// happen to a request at the time of a change.
func (w *World) checkAccepted(c *credential, o *op) {
	if c.subject != "" || o.unknown {
		return
	}
	accepted := o.status != http.StatusUnauthorized
	refuse := func(what string, since time.Time) bool {
		if since.IsZero() || since.After(o.begun) {
			return false
		}
		if accepted {
			w.fail("the token %d of the account %d is accepted, which is %s since %s", c.id, c.account, what, since.Sub(w.start))
		}
		return true
	}
	a := w.account(c.account)
	if refuse("deleted", c.deleted) || refuse("without its account", a.deleted) ||
		refuse("expired", c.expires.Add(w.skew)) {
		return
	}
	before := func(t time.Time) bool { return t.IsZero() || t.After(o.ended) }
	switch valid := before(c.deleting) && before(a.deleting) && c.expires.After(o.ended.Add(w.skew)); {
	case c.account != 0 && (accepted || valid):
		w.add(o, "enabled", c.account, "get", accepted)
	case valid && !accepted:
		w.fail("an API token is refused, which is valid")
	}
}
