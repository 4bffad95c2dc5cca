package world

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/dynamo"
)

// tokenState is what the world knows about personal access tokens.
type tokenState struct {
	all       []*credential // also API tokens
	createdAt map[int64]string
	highest   int64     // id of those that were created
	announced time.Time // the beginning of the last search for expiring ones
}

// rotate replaces the token of a pipeline, and tries both.
func (a *actor) rotate() {
	account := subject(a, a.accounts.robots...)
	if a.IntN(6) == 0 {
		a.letExpire(account)
		return
	}
	if c := a.credentialOf(account); c != nil && a.IntN(4) == 0 { // replace it while it is deleted
		a.before((*call).isQuery, func(b *actor) { b.endToken(a.admin, c) })
		a.createToken(a.admin, account, c.description)
		a.rival = nil
		return
	}
	a.meanwhile((*actor).rotate)
	created := a.createToken(a.admin, account, fmt.Sprint("token ", a.IntN(4))) // sometimes a description that exists
	if created == nil {
		a.listTokens(a.admin, account)
		for _, c := range a.tokens.all { // make room
			if c.account == account && c.deleting.IsZero() && a.IntN(2) == 0 {
				o := a.do(a.admin, fmt.Sprintf("GET service-account/%d/token/%d", account, c.id), nil)
				a.record(o, "tokens", account, "read", c.name())
				a.endToken(a.admin, c)
				return
			}
		}
		return
	}
	if a.IntN(2) == 0 {
		a.useToken(created)
	}
	if old := a.last; old != nil && old.account == created.account && a.IntN(2) == 0 {
		a.endToken(a.admin, old)
		a.useToken(old)
	}
	a.last = created
}

// letExpire fills an account with tokens that expire one after the other. The one that expired first makes room for
// another one, and one that expired for another one with its description.
func (a *actor) letExpire(account int64) {
	for _, c := range a.tokens.all {
		if c.account == account && c.deleting.IsZero() {
			a.endToken(a.admin, c)
		}
	}
	create := func() {
		a.n++
		a.createTokenFor(shortest, a.admin, account, fmt.Sprint(a.name, " ", a.n))
	}
	for range a.tokenLimit() {
		create()
	}
	renewed := fmt.Sprint(a.name, " ", a.n)
	a.sleep(a.name, shortest+time.Second)
	create()
	a.createTokenFor(shortest, a.admin, account, renewed)
	a.listTokens(a.admin, account)
}

// Lifetimes of tokens. The shortest one is a little more than the service requires.
const (
	shortest = 45 * time.Second
	day      = 24 * time.Hour
)

// createToken creates a token of an account: the caller's own if owner is 0.
func (a *actor) createToken(c *credential, owner int64, description string) *credential {
	lifetime := choose(a, shortest, shortest, 2*time.Minute, day, 7*day+time.Minute, 14*day)
	return a.createTokenFor(lifetime, c, owner, description)
}

// createTokenFor creates a token with a lifetime.
func (a *actor) createTokenFor(lifetime time.Duration, c *credential, owner int64, description string) *credential {
	if lifetime < day {
		lifetime += within(a.Rand, time.Second) // so that hardly any two expire together
	}
	expires := datetime.Milliseconds(time.Now().Add(lifetime).UTC())
	path, account := tokensOf(c, owner)
	highest := a.tokens.highest
	o := a.do(c, "POST "+path, object{"description": description, "expiresAt": datetime.Format(expires)})
	var id int64
	var out struct {
		ID     json.Number
		UserID int64
		Secret string
	}
	switch o.status {
	case http.StatusUnauthorized, http.StatusBadRequest: // it would expire too early
		return nil
	case http.StatusForbidden:
		if !strings.Contains(o.response, "maximum number of tokens") {
			return nil
		}
	case http.StatusCreated:
		a.decode(o, &out)
		account = out.UserID // of a JWT, it can change
		if id, _ = out.ID.Int64(); id <= highest {
			a.fail("%s creates the token %d, after the token %d was created", a.name, id, highest)
		}
		a.tokens.highest = max(a.tokens.highest, id)
	}
	if a.recordTokens(c, o, account, "create", tokenName(description, id, expires)); !o.ok() {
		return nil
	}
	created := &credential{text: out.Secret, account: account, id: id, description: description, expires: expires}
	a.tokens.all = append(a.tokens.all, created)
	return created
}

// endToken deletes a token, by a request or as an operator does, while somebody uses it. Only the person or an operator
// can delete a token of a person.
func (a *actor) endToken(by, c *credential) {
	owner := c.account
	if by.account == owner {
		owner = 0
	}
	path, _ := tokensOf(by, owner)
	token := tokenlist.Token{Kind: tokenlist.PAT, ID: fmt.Sprint(c.id), UserID: &c.account}
	if c.account == 0 {
		token = tokenlist.Token{Kind: tokenlist.APIToken, ID: c.description}
	}
	o := a.delete(by, &c.deletion, func(b *actor) { b.useToken(c) }, func() *op {
		if by != a.admin || slices.Contains(a.accounts.robots, c.account) && a.IntN(2) == 0 {
			return a.do(by, fmt.Sprintf("DELETE %s/%d", path, c.id), nil)
		}
		return a.command(fmt.Sprint("tokens revoke ", token.ID),
			func(ctx context.Context) error { return a.operator.Revoke(ctx, token) })
	})
	if c.account != 0 {
		a.recordTokens(by, o, c.account, "delete", c.name())
	}
}

// tokensOf returns the path of the tokens of an account, and the account: the caller's own if owner is 0.
func tokensOf(c *credential, owner int64) (path string, account int64) {
	if owner == 0 {
		return "user/tokens", c.account
	}
	return fmt.Sprintf("service-account/%d/token", owner), owner
}

// recordTokens records an operation on the tokens of an account, unless the person who did it with a JWT had another
// account meanwhile.
func (a *actor) recordTokens(c *credential, o *op, account int64, name, value string) {
	for _, h := range a.people.identities {
		if c.subject == h.subject && h.id != account && h.during(o) {
			name = "unclear"
			a.record(o, "tokens", h.id, name, value)
		}
	}
	a.record(o, "tokens", account, name, value)
}

// listTokens lists the tokens of a service account, or the caller's own if owner is 0.
func (a *actor) listTokens(c *credential, owner int64) {
	name := "list"
	if owner == 0 {
		name = "list own"
	}
	path, account := tokensOf(c, owner)
	var out struct{ Pats descriptions }
	a.recordTokens(c, a.get(c, path, &out), account, name, out.Pats.canonical())
}

// descriptions are tokens in a response.
type descriptions []struct{ Description string }

func (d descriptions) canonical() string {
	var all []string
	for _, token := range d {
		all = append(all, token.Description)
	}
	return canonical(all)
}

// changeOwn creates a token with another one of the account, or deletes the other one.
func (a *actor) changeOwn(id int64) {
	switch c := a.credentialOf(id); {
	case c == nil:
	case a.IntN(2) == 0:
		a.createToken(c, 0, "token 0")
	default:
		a.endToken(c, c)
	}
}

// stepTokens: the state is the set of an account's tokens, each with its description, id and expiry; absent: the
// account is deleted.
func stepTokens(state string, o op) (bool, string) {
	status, next, closed := 404, state, state == absent
	var set []string
	if state != "" && !closed {
		set = strings.Split(state, "\n")
	}
	switch o.name {
	case "list", "list own": // the account can be deleted after the authorizer has read it
		for i := range set {
			set[i], _, _ = strings.Cut(set[i], "#")
		}
		return closed && (o.status == 404 || o.name == "list own" && o.value == "") || !closed && o.status == 200 &&
			o.value == canonical(set), state
	case "read":
		return slices.Contains(set, o.value) == (o.status == 200), state
	case "create":
		if !closed {
			status, next = createToken(set, o)
		}
	case "delete":
		if i := slices.Index(set, o.value); i >= 0 {
			status, next = 200, canonical(slices.Delete(set, i, i+1))
		}
	default: // close
		return o.status != 404 || closed, absent
	}
	return o.unknown || o.status == status, next
}

// createToken returns the status of a creation in an account with these tokens, and the tokens afterwards. An expired
// token with the description or, in a full account, the token that expired first, makes room.
func createToken(set []string, o op) (status int, next string) {
	description, _, _ := strings.Cut(o.value, "#")
	same := slices.IndexFunc(set, func(token string) bool { return strings.HasPrefix(token, description+"#") })
	notExpired := []int{409}
	if len(set) >= o.tokenLimit {
		notExpired = append(notExpired, 403) // it can be the token that expires first
	}
	if same >= 0 && o.finds(set[same], notExpired...) {
		return 201, canonical(append(slices.Delete(set, same, same+1), o.value))
	}
	room := set
	if len(set) >= o.tokenLimit {
		first := slices.MinFunc(set, func(a, b string) int { return expiryOf(a).Compare(expiryOf(b)) })
		if !o.finds(first, 403) {
			return 403, canonical(set)
		}
		room = slices.DeleteFunc(slices.Clone(set), func(token string) bool { return token == first })
	}
	if same >= 0 {
		return 409, canonical(set)
	}
	return 201, canonical(append(room, o.value))
}

// finds reports whether a creation found that a token has expired. The clock of its function decides that, so it is
// unknown for a short time. Then the creation found the opposite if its status is one of a token that has not expired.
func (o op) finds(token string, notExpired ...int) bool {
	begun, ended := o.begun.Add(-maxSkew), o.ended.Add(maxSkew)
	if o.unknown {
		ended = ended.Add(time.Minute) // it can still take effect
	}
	return expiryOf(token).Before(begun) || !slices.Contains(notExpired, o.status) && !expiryOf(token).After(ended)
}

// expiryOf returns the expiry of a token in the state of stepTokens.
func expiryOf(token string) time.Time {
	_, text, _ := strings.Cut(token, "@")
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// changedToken checks an item of the table PersonalAccessTokens.
func (w *World) changedToken(c change) {
	if owner, id := c.account(), c.item.Int("id"); owner != 0 { // otherwise the counter
		if c.old == nil && w.users()[owner]["kind"] == nil {
			w.fail("the token %d is added to the account %d, whose deletion has begun", id, owner)
		}
		if at := c.next.String("createdAt"); at != "" {
			w.tokens.createdAt[id] = at
		}
	}
}

// checkTokens checks the number of tokens of an account, and that the map in its item contains exactly them.
func (w *World) checkTokens(owner int64) {
	if owner <= 0 {
		return
	}
	var tokens, known []int64
	for _, item := range w.db.Items("PersonalAccessTokens") {
		if item.Int("userId") == owner {
			tokens = append(tokens, item.Int("id"))
		}
	}
	holder := w.users()[owner]
	pats := holder.Map("pats")
	for key := range pats {
		known = append(known, pats.Int(key))
	}
	slices.Sort(tokens)
	slices.Sort(known)
	switch {
	case len(tokens) > w.tokenLimit():
		w.fail("the account %d has %d tokens, the limit is %d", owner, len(tokens), w.tokenLimit())
	case holder == nil && tokens != nil:
		w.fail("the tokens %v have no owner: there is no account %d", tokens, owner)
	case holder["kind"] != nil && !slices.Equal(known, tokens): // otherwise its deletion has begun
		w.fail("the account %d has the tokens %v, but its item has %v", owner, tokens, known)
	}
}

func (w *World) announce() {
	w.tokens.announced = time.Now()
	_, _ = w.invoke(context.Background(), "announce-expiring-tokens", []byte("{}"))
}

// checkExpiring checks that each token that is about to expire was recorded at the last threshold that it had reached
// at the last search.
func (w *World) checkExpiring() {
	for _, item := range w.db.Items("PersonalAccessTokens") {
		w.checkExpiry(item, fmt.Sprint("pat:", item.Int("id")))
	}
	for _, item := range w.db.Items(clienttokentable.Table) {
		w.checkExpiry(item, "client-token:"+item.String(clienttokentable.Hash))
	}
}

// checkExpiry is checkExpiring for one token. The expiry is recorded after the creation or the last change of the token.
func (w *World) checkExpiry(item dynamo.Item, subject string) {
	if item["expiresAt"] == nil {
		return
	}
	expires := item.Time("expiresAt").Sub(w.tokens.announced)
	if expires < time.Minute {
		return
	}
	changed := int64(0)
	for _, e := range w.events.log[subject] {
		switch eventlog.Type(e.String("type")) {
		case eventlog.TokenExpiring, eventlog.APITokenRotated: // which do not change when it expires
		default:
			changed = e.Int("id")
		}
	}
	for _, threshold := range []int{1, 7, 14} {
		left := expires - time.Duration(threshold)*24*time.Hour // clocks differ, and the search takes some time
		if left < -time.Minute && !slices.ContainsFunc(w.events.log[subject], func(e dynamo.Item) bool {
			return e.Int("id") > changed && strings.HasSuffix(e.String("data"), fmt.Sprintf(`"days":%d}`, threshold))
		}) {
			w.fail("%s expires in less than %d days, which was not recorded", subject, threshold)
		}
		if left < time.Minute {
			break
		}
	}
}

// checkOrderOfTokens checks that the ids of tokens rise with their times.
func (w *World) checkOrderOfTokens() {
	last := ""
	for _, id := range slices.Sorted(maps.Keys(w.tokens.createdAt)) {
		if w.tokens.createdAt[id] < last {
			w.fail("the token %d was created at %s, and an earlier one at %s", id, w.tokens.createdAt[id], last)
		}
		last = w.tokens.createdAt[id]
	}
}
