package world

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// trusted is a trust of a service account in the pipelines of a repository, while it is stored.
type trusted struct {
	account, id     int64
	repository, pin string    // pin is the claim that has the value pinned
	from, until     time.Time // until is zero as long as it is stored
}

// pinned is the value of the claims that say what a job runs for.
const pinned = "main"

// pipelineAudience contains the host name of the API in the world.
const pipelineAudience = "https://example.com"

// job is what the ID token of a pipeline says.
type job struct {
	repository string
	pins       []string // the claims with the value pinned
}

// matches reports whether a trust accepts the tokens of a job.
func (t *trusted) matches(j *job) bool {
	return t.repository == j.repository && slices.Contains(j.pins, t.pin)
}

func repositories() []string { return []string{"1", "2"} }

// manageTrusts creates, replaces and deletes trusts of service accounts, and disables an account. A job asks right after
// that.
func (a *actor) manageTrusts() {
	if len(a.accounts.robots) == 1 {
		a.addAccount()
	}
	account := subject(a, a.accounts.robots...)
	t := &trusted{account: account, repository: choose(a, repositories()...), pin: choose(a, "ref", "environment")}
	a.meanwhile((*actor).runJob)
	existing := a.storedTrusts()
	if len(existing) > 0 && a.IntN(4) == 0 {
		t = choose(a, existing...)
		a.disable(user.ServiceAccount, t.account, a.IntN(2) == 0)
	} else if len(existing) > 0 && a.IntN(2) == 0 {
		t = choose(a, existing...)
		a.deleteTrust(t)
		if a.IntN(3) == 0 { // it is replaced
			a.createTrust(&trusted{account: t.account, repository: t.repository, pin: choose(a, "ref", "environment")})
		}
	} else {
		a.createTrust(t)
	}
	a.askAs(job{t.repository, []string{t.pin}})
}

func (a *actor) createTrust(t *trusted) {
	a.do(a.admin, fmt.Sprintf("POST service-account/%d/trust", t.account), object{
		"description": "a job", "issuer": "https://" + issuerHost, "audience": pipelineAudience,
		"claims": object{"repository_id": t.repository, t.pin: pinned},
	})
}

func (a *actor) deleteTrust(t *trusted) {
	a.do(a.admin, fmt.Sprintf("DELETE service-account/%d/trust/%d", t.account, t.id), nil)
}

// storedTrusts returns the trusts that are stored now.
func (w *World) storedTrusts() (all []*trusted) {
	for _, t := range w.trusts {
		if t.until.IsZero() {
			all = append(all, t)
		}
	}
	return all
}

// runJob lets a job of a pipeline use the account that trusts it. Sometimes it tries to get a credential of its own.
func (a *actor) runJob() {
	pins := choose(a, []string{"ref"}, []string{"environment"}, []string{"ref", "environment"})
	j := job{subject(a, repositories()...), pins}
	a.meanwhile((*actor).manageTrusts)
	c, account := a.askAs(j)
	if account == 0 {
		return
	}
	expires := datetime.Format(time.Now().Add(time.Hour))
	var o *op
	switch a.IntN(4) {
	case 0:
		o = a.do(c, "POST user/tokens", object{"description": "kept", "expiresAt": expires})
	case 1:
		o = a.do(c, fmt.Sprintf("POST service-account/%d/token", account), object{"description": "kept", "expiresAt": expires})
	case 2:
		o = a.do(c, fmt.Sprintf("POST service-account/%d/trust", account), object{
			"description": "kept", "issuer": "https://" + issuerHost, "audience": pipelineAudience,
			"claims": object{"repository_id": "3", "ref": pinned},
		})
	default:
		return
	}
	if o.ok() {
		a.fail("a job of the repository %s has made itself a credential of the account %d", j.repository, account)
	}
}

// askAs lets a job ask who it is. It returns its token and its account, or 0 if it is refused.
func (a *actor) askAs(j job) (*credential, int64) {
	issued := time.Now()
	claims := object{
		"iss": "https://" + issuerHost, "sub": "repository " + j.repository, "aud": pipelineAudience,
		"exp": issued.Add(5 * time.Minute).Unix(), "iat": issued.Unix(), "repository_id": j.repository,
	}
	for _, pin := range j.pins {
		claims[pin] = pinned
	}
	c := &credential{text: key().Sign(nil, claims), expires: issued.Add(5 * time.Minute), job: &j}
	var out struct {
		User        struct{ ID int64 }
		Permissions []struct{ Permission access.Permission }
	}
	o := a.get(c, "user", &out)
	if !o.ok() {
		return c, 0
	}
	for _, t := range a.trustsDuring(&j, o) {
		if t.account == out.User.ID {
			a.record(o, "role", t.account, "get", roleOf(out.Permissions))
			return c, t.account
		}
	}
	a.fail("a job of the repository %s has the rights of the account %d, which does not trust it", j.repository, out.User.ID)
	return c, 0
}

// trustsDuring returns the trusts in a job that were stored at some time of an operation.
func (w *World) trustsDuring(j *job, o *op) (all []*trusted) {
	for _, t := range w.trusts {
		if t.matches(j) && !t.from.After(o.ended) && (t.until.IsZero() || t.until.After(o.begun)) {
			all = append(all, t)
		}
	}
	return all
}

// askForAll lets a job of each kind ask, when nothing fails any more. Several accounts trust some of them.
func (a *actor) askForAll() {
	if len(a.trusts) == 0 {
		return
	}
	for i, id := range a.accounts.robots {
		a.createTrust(&trusted{account: id, repository: repositories()[0], pin: []string{"ref", "environment"}[i%2]})
	}
	for _, repository := range repositories() {
		for _, pins := range [][]string{{"ref"}, {"environment"}, {"ref", "environment"}} {
			a.askAs(job{repository, pins})
		}
	}
}

// checkJob checks whether the service accepts the token of a job exactly if it must: one account trusts it, which exists
// and is enabled. While calls of the issuer fail, it can also be refused.
func (w *World) checkJob(c *credential, o *op) {
	accepted := o.status != http.StatusUnauthorized
	during := w.trustsDuring(c.job, o)
	if len(during) == 0 {
		if accepted {
			w.fail("a job of the repository %s is accepted, which no account trusts", c.job.repository)
		}
		return
	}
	whole := map[int64]bool{} // the accounts that trust it all the time
	for _, t := range during {
		whole[t.account] = whole[t.account] || t.lasts(o)
	}
	lasting := 0
	for _, lasts := range whole {
		if lasts {
			lasting++
		}
	}
	account := during[0].account
	switch deletion := w.account(account); {
	case lasting > 1:
		if accepted {
			w.fail("a job of the repository %s is accepted, which several accounts trust", c.job.repository)
		}
	case len(whole) > 1: // it is not known which account trusted it
	case !deletion.deleted.IsZero() && !deletion.deleted.After(o.begun):
		if accepted {
			w.fail("a job of the repository %s is accepted, and the account %d is deleted", c.job.repository, account)
		}
	case accepted || w.calm && lasting == 1 && (deletion.deleting.IsZero() || deletion.deleting.After(o.ended)):
		w.add(o, "enabled", account, "get", accepted)
	}
}

// lasts reports whether a trust was stored during a whole operation.
func (t *trusted) lasts(o *op) bool {
	return !t.from.After(o.begun) && (t.until.IsZero() || t.until.After(o.ended))
}

// changedTrust follows the trusts that are stored.
func (w *World) changedTrust(c change) {
	if w.restores.end != nil {
		return
	}
	account, id := c.item.Int("account"), c.item.Int("trust")
	if c.next == nil {
		for _, t := range w.trusts {
			if t.id == id {
				t.until = time.Now()
			}
		}
		return
	}
	claims := c.next.Map("claims")
	next := &trusted{account: account, id: id, repository: claims.String("repository_id"), pin: "ref", from: time.Now()}
	if claims["environment"] != nil {
		next.pin = "environment"
	}
	if user.Kind(w.users()[account].String("kind")) != user.ServiceAccount {
		w.fail("the trust %d is added to the account %d, which does not exist", id, account)
	}
	for _, t := range w.trusts {
		if t.id >= id {
			w.fail("the trust %d is created after the trust %d", id, t.id)
		}
		if t.until.IsZero() && t.account == account && t.repository == next.repository && t.pin == next.pin {
			w.fail("the account %d has the trusts %d and %d, which accept the same tokens", account, t.id, id)
		}
	}
	w.trusts = append(w.trusts, next)
}

// checkTrusts checks that nothing is left of accounts that do not exist. It is called at the end.
func (w *World) checkTrusts() {
	for _, t := range w.storedTrusts() {
		if w.users()[t.account] == nil {
			w.fail("the trust %d is left of the account %d, which does not exist", t.id, t.account)
		}
	}
}

// isTrust reports whether an item of the table Access is a trust.
func isTrust(item dynamo.Item) bool {
	return item.String(accesstable.Hash) == string(accesstable.KindTrust) && item["trust"] != nil
}
