package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/test/helper/issuer"
)

// peopleState is what the world knows about people.
type peopleState struct {
	bySubject  map[string]int64
	identities []held
}

// managePeople changes the identities of people, disables and deletes them.
func (a *actor) managePeople() {
	if len(a.people.bySubject) == 0 {
		return
	}
	id := subject(a, slices.Sorted(maps.Values(a.people.bySubject))...)
	switch a.IntN(7) {
	case 0, 1:
		a.command(fmt.Sprintf("unlink %d", id), func(ctx context.Context) error {
			return errorOf(a.operator.Unlink(ctx, id))
		})
	case 2, 3, 4:
		a.meanwhile((*actor).managePeople)
		a.link(id, choose(a, "bob", "eve"))
	case 5:
		a.disable(user.Person, id, a.IntN(2) == 0)
	default:
		a.deletePerson(id)
	}
}

func (a *actor) link(id int64, subject string) {
	a.command(fmt.Sprintf("link %d %s", id, subject), func(ctx context.Context) error {
		return errorOf(a.operator.Link(ctx, id, user.Identity{Issuer: "https://" + issuerHost, Subject: subject}))
	})
}

// deletePerson deletes a person. Sometimes the operator interrupts the command. Then another person gets the identity,
// and the tables are copied before the deletion ends.
func (a *actor) deletePerson(id int64) {
	rival := choose(a, (*actor).signIn, (*actor).managePeople, func(b *actor) { b.changeOwn(id) })
	o := a.delete(a.admin, a.account(id), rival, func() *op {
		limit := time.Minute
		if !a.calm && a.IntN(2) == 0 {
			limit = 10*time.Millisecond + within(a.Rand, 20*time.Millisecond)
		}
		return a.command(fmt.Sprint("delete ", id), func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			err := a.operator.DeleteAccount(ctx, user.Person, id, true)
			if ctx.Err() != nil {
				return errors.Join(errInterrupted, err)
			}
			return err
		})
	})
	a.record(o, "tokens", id, "close", "")
	if u := a.users()[id]; u["deleting"] != nil && u["identity"] != nil && !a.calm {
		a.link(choose(a, slices.Sorted(maps.Values(a.people.bySubject))...), u.Map("identity").String("subject"))
		if a.has(restored) {
			a.copyTables()
		}
	}
}

const (
	clientID   = "simulation"
	issuerHost = "issuer.test" // exists in the world only
)

// key signs the tokens of the issuer. It is a new one in each process, which no history contains.
var key = sync.OnceValue(func() issuer.Key { return issuer.NewKey("EdDSA", "EdDSA") })

// serveIssuer responds as the issuer does.
func serveIssuer(path string) (status int, response []byte) {
	document := map[string]any{"issuer": "https://" + issuerHost, "jwks_uri": "https://" + issuerHost + issuer.KeysPath}
	if path == issuer.KeysPath {
		document = map[string]any{"keys": []any{key().JWK()}}
	}
	return http.StatusOK, encode(document)
}

// signIn signs in as one of a few subjects, of whom two have the same e-mail address.
func (a *actor) signIn() {
	visitor := fmt.Sprint("visitor-", int(time.Since(a.start).Minutes())) // nobody knows them before
	name := subject(a, "ada", visitor, choose(a, "bob", "eve"))
	c := identified(name, time.Now())
	var out struct{ User struct{ ID int64 } }
	o := a.get(c, "user", &out)
	if !o.ok() {
		return
	}
	c.account = out.User.ID
	a.checkPerson(name, c.account, o)
	switch a.IntN(4) {
	case 0, 1:
		if created := a.createToken(c, 0, fmt.Sprint("token ", a.IntN(4))); created != nil {
			a.last = created
		}
	case 2:
		if a.last != nil {
			a.endToken(c, a.last)
		}
	default:
		a.listTokens(c, 0)
	}
}

// identified returns the credential with which a subject signs in: an ID token, with groups of the issuer.
func identified(subject string, issued time.Time, groups ...string) *credential {
	expires := issued.Add(5 * time.Minute)
	text := key().Sign(nil, object{
		"iss": "https://" + issuerHost, "sub": subject, "aud": clientID, "exp": expires.Unix(), "iat": issued.Unix(),
		"email": strings.Replace(subject, "eve", "bob", 1) + "@example.com", "email_verified": true, "name": subject,
		"groups": groups,
	})
	return &credential{subject: subject, text: text, expires: expires, issued: issued, groups: groups}
}

// held is the identity of a person from a time on.
type held struct {
	id          int64
	subject     string
	from, until time.Time
}

// during reports whether the person has the identity at some time of an operation.
func (h held) during(o *op) bool {
	return h.from.Before(o.ended) && (h.until.IsZero() || h.until.After(o.begun))
}

// holds records that a person has an identity.
func (w *World) holds(id int64, subject string) {
	now := time.Now()
	for i, h := range w.people.identities {
		if h.id == id && h.until.IsZero() {
			if h.subject == subject {
				return
			}
			w.people.identities[i].until = now
		}
	}
	if subject != "" {
		w.people.identities = append(w.people.identities, held{id: id, subject: subject, from: now})
	}
}

// checkPerson checks that a subject who has signed in had this identity.
func (w *World) checkPerson(subject string, id int64, o *op) {
	w.add(o, "enabled", id, "get", true)
	if !slices.ContainsFunc(w.people.identities, func(h held) bool {
		return h.id == id && h.subject == subject && h.during(o)
	}) {
		w.fail("%s signs in as the account %d, which has another identity", subject, id)
	}
	w.people.bySubject[subject] = id
}
