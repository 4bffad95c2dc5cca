package simulation

import (
	"cmp"
	"compress/gzip"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/toggle"
)

// The objects that the actors compete for.
var (
	types  = []string{"release", "operational"}
	fields = []string{"plan", "region", "device"}
	// They have the same shard. Flips of two shards would take ids in the order of their goroutines.
	toggles = []string{"t1", "t14", "t21", "t32", "t47", "t50"}
)

// oracle is what the world knows independently of the service, and compares the service with.
type oracle struct {
	caller  *call    // that is carried out
	changes []change // that it has written
	copied  []string // the tables that a restore restores
	copying bool     // until it has repaired what it has restored

	types, fields, toggles []string             // that the actors compete for
	typeWritten            map[string]time.Time // the last writes of types
	lowest                 int                  // the lowest sort order that an actor has chosen
	touched, due           map[string]time.Time // the last writes of toggles, and when some become potentially stale
	streams                map[string]*stream   // by table

	createdAt     map[int64]string // of tokens
	acting        int
	highest       int64 // id of the tokens that were created
	admin, editor *credential
	api           *credential // an API token
	credentials   []*credential
	robots        []int64 // service accounts
	accounts      map[int64]*deletion
	people        map[string]int64 // by subject
	identities    []held

	answered   map[string]int64                // requests, by day and status
	lines      []events.CloudwatchLogsLogEvent // of the access log
	delivered  int                             // the number of lines that were
	compressor gzip.Writer                     // does not compress, which is the fastest
}

// latencies are the longest ones of streams, by table.
var latencies = map[string]time.Duration{"FeatureTypes": 200 * time.Millisecond, "Events": 3 * time.Second}

// change is a change of an item.
type change struct {
	table     string
	old, next dynamo.Item
	item      dynamo.Item // the next one, or the old one of a deletion
}

func (w *World) account(id int64) *deletion {
	if w.accounts[id] == nil {
		w.accounts[id] = &deletion{}
	}
	return w.accounts[id]
}

// earliest sets a time that is unknown or later.
func earliest(known *time.Time, t time.Time) {
	if known.IsZero() || t.Before(*known) {
		*known = t
	}
}

// prepare fills the tables, through a process without faults.
func (w *World) prepare() {
	w.log, w.contents, w.received = map[string][]dynamo.Item{}, map[string]string{}, map[string]bool{}
	w.discarded, w.queuedAt = map[string]bool{}, map[string]time.Time{}
	w.flippedAt, w.lifetimes = map[string]time.Time{}, map[string][]lifetime{}
	w.oracle = oracle{
		touched: map[string]time.Time{}, due: map[string]time.Time{}, typeWritten: map[string]time.Time{},
		streams:   map[string]*stream{},
		createdAt: map[int64]string{},
		accounts:  map[int64]*deletion{}, people: map[string]int64{},
		answered: map[string]int64{},
	}
	for _, f := range w.functions {
		for _, m := range f.Streams {
			w.streams[m.Table] = &stream{Stream: m, function: f.Name}
		}
	}
	w.db.Written = func(table string, old, next dynamo.Item) {
		item := next
		if next == nil {
			item = old
		}
		w.changes = append(w.changes, change{table, old, next, item})
	}
	p := w.newProcess("operator/first")
	p.direct = true
	ctx, random := context.Background(), w.random(6)
	client, err := dynamo.NewClient(p.config(), "")
	log := eventlog.New(client, w.tables, p.now, 0)
	w.must(err)
	w.types, w.fields, w.toggles = types[:1+random.IntN(4)/3], fields[:1+random.IntN(len(fields))],
		toggles[:2+random.IntN(2)*4]
	for i, id := range w.types {
		lifetime := []*int64{nil, new(int64(1)), new(int64(1)), new(int64(7))}[random.IntN(4)]
		w.must(featuretype.NewStore(client, w.tables, log).Create(ctx, toggle.Type{ID: id, Position: int64(i),
			LifetimeDays: lifetime}))
	}
	for _, name := range w.fields {
		_, err := contextfield.NewStore(client, w.tables, log).Create(ctx,
			contextfield.ContextField{Name: name, Description: new(""), Last: true})
		w.must(err)
		w.edit(observed(), "field", name, "put", edit{})
	}
	var due time.Time
	for i, name := range w.toggles { // they become potentially stale while the world lives
		// Many are due together, or when actors change them.
		for try := 1; due.Before(w.start) || random.IntN(2) == 0 && try < 9; try++ {
			due = w.start.Add(within(random, duration)).Truncate(w.period())
			if w.topic(due, len(w.toggles)) == i {
				break
			}
		}
		w.due[name] = due
		due := due.Add(within(random, 80*time.Millisecond) - 40*time.Millisecond)
		kind := w.types[random.IntN(len(w.types))]
		age := time.Duration(max(1, w.lifetimes[kind][0].days))*24*time.Hour - time.Until(due)
		f := toggle.Feature{
			Name: name, Project: "default", Type: kind, CreatedAt: time.Now().Add(-age),
			ContextFields: []string{w.fields[random.IntN(len(w.fields))]}[:random.IntN(2)],
		}
		w.must(feature.NewStore(client, w.tables, log).Create(ctx, f))
		w.edit(observed(), "toggle", name, "put",
			edit{change: map[string]any{"type": kind, "contextFields": f.ContextFields}})
	}
	w.prepareAccounts(w.newOperator(p))
}

// must panics because of an error that no fault explains.
func (w *World) must(err error) {
	if err != nil {
		panic(err)
	}
}

// checkWritten checks what must hold after every write.
func (w *World) checkWritten() {
	if w.copying {
		w.changes = nil
	}
	for _, c := range w.changes {
		switch c.table {
		case "Features":
			w.touched[c.item.String("name")] = time.Now()
			w.flipped(c)
			w.checkFields()
		case "ContextFields":
			w.checkFields()
		case "FeatureTypes":
			w.changedType(c)
		case "PersonalAccessTokens":
			w.changedToken(c)
			w.checkTokens(c.account())
		case "Users":
			w.changedAccount(c)
			w.checkTokens(c.account())
		case "Identifiers":
			w.checkRelations()
		case "ApiTokens":
			if c.next != nil && c.next["verifier"] == nil {
				w.fail("the API token %s was deleted, but there is an item", c.next.String("id"))
			}
		}
		if s := w.streams[c.table]; s != nil {
			w.await(s, w.upTo(latencies[c.table], w.caller.key))
		}
	}
	w.checkRecorded()
	w.changes = w.changes[:0]
}

// account returns the account that a change of the tables Users and PersonalAccessTokens belongs to.
func (c change) account() int64 {
	return max(c.item.Int("id")*int64(map[string]int{"Users": 1}[c.table]), c.item.Int("userId"))
}

func (w *World) changedType(c change) {
	id, days := c.item.String("id"), c.next.Int("lifetimeDays")
	w.typeWritten[id] = time.Now()
	if len(w.lifetimes[id]) == 0 || w.lifetime(id).days != days {
		w.lifetimes[id] = append(w.lifetimes[id], lifetime{days, time.Now()})
	}
}

// changedToken checks an item of the table PersonalAccessTokens.
func (w *World) changedToken(c change) {
	if owner, id := c.account(), c.item.Int("id"); owner != 0 { // otherwise the counter
		if c.old == nil && w.users()[owner]["kind"] == nil {
			w.fail("the token %d is added to the account %d, whose deletion has begun", id, owner)
		}
		if at := c.next.String("createdAt"); at != "" {
			w.createdAt[id] = at
		}
	}
}

// users returns the items of the table Users, which contains accounts with positive ids, and their number.
func (w *World) users() map[int64]dynamo.Item {
	all := map[int64]dynamo.Item{}
	for _, item := range w.db.Items("Users") {
		all[item.Int("id")] = item
	}
	return all
}

// changedAccount checks an item of the table Users.
func (w *World) changedAccount(c change) {
	id := c.item.Int("id")
	subject := ""
	if c.next["kind"] != nil {
		subject = c.next.Map("identity").String("subject")
	}
	if w.holds(id, subject); id <= 0 || c.next == nil {
		return
	}
	if c.next["kind"] == nil && c.next["deleting"] == nil || c.next["kind"] != nil && c.old["deleting"] != nil {
		w.fail("the account %d is deleted, but a change has added an item", id)
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

// checkQuiet checks what must hold when nothing happens any more.
func (w *World) checkQuiet() {
	w.checkEvents()
	w.checkAccounts()
	counted := map[string]int64{}
	for _, item := range w.db.Items("Traffic") {
		if parts := strings.Split(item.String("pathDayShard"), "#"); len(parts) == 3 &&
			strings.HasPrefix(parts[1], item.String("period")) {
			for status, name := range map[string]string{
				"2xx": "successfulRequests", "4xx": "clientErrors", "5xx": "serverErrors",
			} {
				if n := item.Int(name); n > 0 {
					counted[parts[1]+" "+status] += n
				}
			}
		}
	}
	if !maps.Equal(counted, w.answered) {
		w.fail("the responses were %v, but %v are counted", w.answered, counted)
	}
}

// checkAccounts checks that deletions end, and the order of tokens.
func (w *World) checkAccounts() {
	w.checkRelations()
	for id, item := range w.users() {
		if item["deleting"] != nil {
			w.fail("the deletion of the account %d does not end", id)
		}
	}
	last := ""
	for _, id := range slices.Sorted(maps.Keys(w.createdAt)) {
		if w.createdAt[id] < last {
			w.fail("the token %d was created at %s, and an earlier one at %s", id, w.createdAt[id], last)
		}
		last = w.createdAt[id]
	}
}

// checkRelations checks that there are no tokens and reservations without an account, and the number of accounts.
func (w *World) checkRelations() {
	for _, item := range w.db.Items("PersonalAccessTokens") {
		w.checkTokens(item.Int("userId"))
	}
	robots, users, names := int64(0), w.users(), map[string]int64{}
	for id, item := range users {
		if cmp.Or(item.String("kind"), item.String("deleting")) == string(user.ServiceAccount) { // counted until it is gone
			robots++
		}
		identity := item.Map("identity")
		for kind, name := range map[string]string{
			"email:": item.String("email"), "username:": item.String("username"),
			"identity:" + identity.String("issuer") + " ": identity.String("subject"),
		} {
			if name = strings.ToLower(kind + name); name != kind && item["deleting"] == nil {
				if names[name] != 0 {
					w.fail("two accounts have the name %s", name)
				}
				names[name] = id
			}
		}
	}
	if n := users[-1].Int("serviceAccounts"); n != robots || n > robotLimit {
		w.fail("there are %d service accounts, %d are counted, and the limit is %d", robots, n, robotLimit)
	}
	identifiers := map[string]int64{}
	for _, item := range w.db.Items("Identifiers") {
		name, owner := strings.ToLower(item.String("id")), item.Int("accountId")
		if names[name] != 0 || users[owner]["deleting"] == nil { // otherwise the end of the deletion removes it
			identifiers[name] = owner
		}
	}
	if !maps.Equal(names, identifiers) {
		w.fail("the accounts have the names %v, but %v are reserved", names, identifiers)
	}
}
