package e2e_test

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/usage"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
	"toggleadmin/test/helper/issuer"
	"toggleadmin/test/helper/localtest"
	"toggleadmin/test/helper/process"
)

func load(t *testing.T) *samtemplate.Template {
	t.Helper()
	template, err := samtemplate.Load(localtest.Template(t), samtemplate.Settings{
		Region: "us-east-1", AccountID: "123456789012", StackName: "local", Parameters: map[string]string{
			"SendEventsToBus": "true", "ClientApi": "true", "OidcIssuer": "https://issuer.example.com", "OidcClientId": issuer.ClientID,
			"OidcDefaultRole": "Viewer",
		},
	})
	assert.OK(t, err)
	return template
}

// permissions returns the DynamoDB permissions of all roles: "role: action on table/NAME[/index/NAME]", and for each value
// of a condition this followed by " if operator key value".
func permissions(template *samtemplate.Template) map[string]bool {
	all := map[string]bool{}
	for _, f := range template.Functions {
		for _, s := range f.Policies {
			for _, action := range s.Actions {
				for _, resource := range s.Resources {
					if !strings.HasPrefix(action, "dynamodb:") || strings.Contains(resource, "/stream/") {
						continue
					}
					permission := f.Role + ": " + action + " on " + resource[strings.LastIndexByte(resource, ':')+1:]
					all[permission] = true
					for operator, keys := range s.Condition {
						for key, values := range keys {
							for _, value := range values {
								all[permission+" if "+operator+" "+key+" "+value] = true
							}
						}
					}
				}
			}
		}
	}
	return all
}

// restricted are the tables for which a permission to update items must have a condition on the attributes. It does not
// limit PutItem and DeleteItem, which replace the whole item, nor ReturnValuesOnConditionCheckFailure (DynamoDB
// Developer Guide, "Using IAM policy conditions for fine-grained access control").
var restricted = []string{"ApiTokens", "ClientTokens", "PersonalAccessTokens", "Users"}

// withReferences are the tables in which only items with references, versions and counters are updated.
var withReferences = []string{"ContextFields", "Environments", "Segments"}

// used returns the permissions that the roles need for calls of their functions, in the form of permissions. A
// transaction needs the permissions of its actions (DynamoDB Developer Guide, "Using IAM with DynamoDB transactions").
func used(template *samtemplate.Template, calls []call) map[string]bool {
	roles := map[string]string{} // by function
	for _, f := range template.Functions {
		roles[f.Name] = f.Role
	}
	all := map[string]bool{}
	for _, c := range calls {
		for _, a := range c.Accesses {
			resource := "table/" + a.Table
			if a.Index != "" {
				resource += "/index/" + a.Index
			}
			permission := roles[c.Function] + ": " + a.Action + " on " + resource
			all[permission] = true
			keys := ""
			if kind, _, ok := strings.Cut(a.Leading, ":"); ok && a.Table == "Identifiers" {
				keys = kind + ":*"
			}
			if a.Action == "dynamodb:UpdateItem" && slices.Contains(withReferences, a.Table) {
				keys = a.Leading
				if strings.HasPrefix(keys, "references#") {
					keys = "references#*"
				}
			}
			// Who writes trusts writes nothing else of the table, except who writes accounts. Who gives tags to toggles, also
			// with their state, writes only tag types, and who reports code references, marks favorites or saves views only these.
			if writes := !strings.HasSuffix(a.Action, "GetItem") && a.Action != "dynamodb:Query"; writes && a.Table == "Access" &&
				(a.Leading == "trust" || a.Leading == "favorites" || a.Leading == "saved-views" || roles[c.Function] == "TrustWriterRole" || roles[c.Function] == "TagWriterRole" ||
					roles[c.Function] == "FeatureStateRole" && a.Leading == "tag-type" || a.Leading == "code-references" && a.Action == "dynamodb:PutItem") {
				keys = a.Leading
			}
			if keys != "" {
				all[permission+" if ForAllValues:StringLike dynamodb:LeadingKeys "+keys] = true
			}
			sweep := roles[c.Function] == "UsageRole" && a.Table == "Features" // toggles, of which it writes one attribute
			if !sweep && (a.Action != "dynamodb:UpdateItem" || !slices.Contains(restricted, a.Table)) {
				continue
			}
			for _, attribute := range a.Attributes {
				all[permission+" if ForAllValues:StringEquals dynamodb:Attributes "+attribute] = true
			}
			if a.Action == "dynamodb:BatchGetItem" {
				all[permission+" if StringEqualsIfExists dynamodb:Select SPECIFIC_ATTRIBUTES"] = true
				continue
			}
			all[permission+" if StringEqualsIfExists dynamodb:ReturnValues "+cmp.Or(a.Returns, "NONE")] = true
		}
	}
	return all
}

// requireGranted sends the requests of the sample events, after those of the scripts, and checks that the policies grant
// exactly what all of them have used.
func (s *service) requireGranted(t *testing.T, people *issuer.Issuer) {
	t.Helper()
	// The function that runs every hour announces two tokens.
	s.createToken(t, 4, time.Now().Add(2*time.Hour))
	expiring, _ := s.createClientToken(t)
	s.mustSend(t, "PUT /api/admin/api-tokens/"+expiring.Listed(), "api-token",
		`{"expiresAt":"`+time.Now().Add(2*time.Hour).Format(time.RFC3339)+`"}`)
	_, err := s.function(t, "announce-expiring-tokens", "announce-expiring-tokens", time.Now()).Invoke(t.Context(), []byte("{}"))
	assert.OK(t, err)
	s.mustSend(t, "POST /api/admin/service-account/4/trust", "admin",
		`{"description":"a","issuer":"`+people.URL+`","audience":"http://127.0.0.1","claims":{"project_id":"20","ref":"main"}}`)
	s.tokens["pipeline"] = people.Token(time.Now(), map[string]any{"aud": "http://127.0.0.1", "project_id": "20", "ref": "main"})
	s.mustSend(t, "GET /api/admin/context", "pipeline", "")
	s.mustSend(t, "POST /api/admin/groups", "admin", `{"name":"Designers","mappingsSSO":["designers"]}`)
	for _, claims := range []map[string]any{
		{"sub": "new", "email": "new@example.com", "groups": []string{"designers"}},
		{"sub": "1", "email": "viewer@example.com"},
	} {
		s.tokens["person"] = people.Token(time.Now(), claims)
		s.mustSend(t, "GET /api/admin/context", "person", "")
	}
	// A toggle that is old enough to be potentially stale at once, and uses a context field.
	for _, request := range []string{
		"POST /api/admin/archive/revive/old-banner", "GET /api/admin/search/features?state=IS:potentially-stale",
		"DELETE /api/admin/projects/shop/features/old-banner",
		"GET /api/admin/search/events?limit=1", // of a log with more events
	} {
		s.mustSend(t, request, "api-token", "")
	}
	// A change request archives it when it is potentially stale again.
	s.mustSend(t, "POST /api/admin/archive/revive/old-banner", "api-token", "")
	_, response := s.send(t, "POST /api/admin/projects/shop/environments/development/change-requests", "admin",
		`{"feature":"old-banner","action":"archiveFeature"}`)
	var request struct{ ID int64 }
	assert.OK(t, json.Unmarshal(response, &request))
	for _, state := range []string{"In review", "Applied"} {
		s.mustSend(t, fmt.Sprintf("PUT /api/admin/projects/shop/change-requests/%d/state", request.ID), "admin",
			fmt.Sprintf(`{"state":%q}`, state))
	}
	s.applyScheduled(t)
	// Only requests of others than Admins read which projects they see.
	for _, request := range []string{
		"GET /api/admin/search/features", "GET /api/admin/search/events?feature=IS:old-banner", "GET /api/admin/segments",
		"GET /api/admin/metrics/applications", "GET /api/admin/api-tokens",
	} {
		s.mustSend(t, request, "editor", "")
	}
	s.mustSend(t, "POST /api/admin/playground/advanced", "editor", `{"environments":["production"],"context":{}}`)
	token, secret := s.createClientToken(t)
	s.downloadToggles(t, secret)
	s.reportUse(t, secret)
	s.mergeUsage(t)
	// Which applications are hidden is read only if a project is.
	s.mustSend(t, "POST /api/admin/projects", "admin", `{"name":"Hidden","mode":"private"}`)
	s.mustSend(t, "GET /api/admin/client-metrics/features/old-banner", "editor", "")
	client := "/api/admin/api-tokens/" + token.Listed()
	s.mustSend(t, "PUT "+client, "api-token", `{"expiresAt":"2199-01-01T00:00:00Z"}`)
	s.mustSend(t, "POST "+client+"/rotate", "api-token", `{}`)
	s.mustSend(t, "DELETE "+client, "api-token", "")
	// A new token of a full account takes the place of an expired one.
	s.fillWithExpired(t, 4)
	s.mustSend(t, "POST /api/admin/service-account/4/token", "api-token", inAFullAccount)
	s.fillWithExpired(t, 3)
	s.mustSend(t, "POST /api/admin/user/tokens", "viewer", inAFullAccount)
	s.sendSamples(t)
	s.mustSend(t, "DELETE /api/admin/user-admin/3", "admin", "") // a person with an identity and tokens
	template := load(t)
	granted, n := permissions(template), 0
	var calls []call
	t.Cleanup(func() {
		assert.Equal(t, granted, used(template, calls))
		if missing := withoutRecord(template, calls); len(missing) > 0 {
			t.Errorf("these functions may record changes, but recorded none: %q", missing)
		}
	})
	process.Await(t, "the use of exactly what is granted", 100*time.Millisecond, time.Minute, func() bool {
		if n++; n%20 == 0 { // the sweep may have set the flags that the stream handler should set
			s.mustSend(t, "PUT /api/admin/feature-types/experiment/lifetime", "api-token",
				fmt.Sprintf(`{"lifetimeDays":%d}`, 1+n%3*1000))
		}
		calls = append(calls, s.meter.take()...) // functions that receive events run after the requests
		return maps.Equal(used(template, calls), granted) && len(withoutRecord(template, calls)) == 0
	})
	requireRecorded(t, calls)
}

// applyScheduled schedules change requests with all kinds of changes, and lets the sweep apply them.
func (s *service) applyScheduled(t *testing.T) {
	t.Helper()
	s.mustSend(t, "POST /api/admin/archive/revive/old-banner", "api-token", "")
	s.mustSend(t, "POST /api/admin/projects/shop/features", "admin", `{"name":"scheduled-parent"}`)
	s.mustSend(t, "POST /api/admin/projects/shop/features", "admin", `{"name":"scheduled"}`)
	s.mustSend(t, "PUT /api/admin/projects/shop/environments/production/change-requests/config", "admin",
		`{"changeRequestsEnabled":true}`)
	var used, unused struct{ ID int64 }
	for name, segment := range map[string]*struct{ ID int64 }{"used": &used, "unused": &unused} {
		_, response := s.send(t, "POST /api/admin/segments", "admin", `{"name":"scheduled `+name+`","constraints":[]}`)
		assert.OK(t, json.Unmarshal(response, segment))
	}
	constraint := `"constraints":[{"contextName":"userId","operator":"IN","values":["7"]}]`
	at := time.Now().Add(time.Hour)
	sweep := s.function(t, "sweep-change-requests", "sweep-change-requests", time.Now())
	for i, changes := range []string{
		fmt.Sprintf(`{"feature":"scheduled","action":"addStrategy","payload":{"name":"default","segments":[%d],%s}},`+
			`{"feature":"scheduled","action":"updateEnabled","payload":{"enabled":true}},`+
			`{"feature":"scheduled","action":"addDependency","payload":{"feature":"scheduled-parent"}}`, used.ID, constraint),
		fmt.Sprintf(`{"action":"updateSegment","payload":{"id":%d,%s}}`, used.ID, constraint),
		fmt.Sprintf(`{"action":"deleteSegment","payload":{"id":%d}}`, unused.ID),
		`{"feature":"old-banner","action":"archiveFeature"}`, // which is potentially stale again
	} {
		_, response := s.send(t, "POST /api/admin/projects/shop/environments/production/change-requests", "editor", "["+changes+"]")
		var request struct{ ID int64 }
		assert.OK(t, json.Unmarshal(response, &request))
		state := fmt.Sprintf("PUT /api/admin/projects/shop/change-requests/%d/state", request.ID)
		s.mustSend(t, state, "editor", `{"state":"In review"}`)
		s.mustSend(t, state, "admin", `{"state":"Approved"}`)
		s.mustSend(t, state, []string{"admin", "api-token"}[i%2],
			fmt.Sprintf(`{"state":"Scheduled","scheduledAt":%q}`, at.Format(time.RFC3339)))
		summary, err := sweep.Invoke(t.Context(), fmt.Appendf(nil, `{"time":%q}`, at.Format(time.RFC3339)))
		assert.OK(t, err)
		assert.Equal(t, `{"applied":1,"suspended":0,"failed":0,"left":0}`, string(summary))
	}
	s.mustSend(t, "PUT /api/admin/projects/shop/environments/production/change-requests/config", "admin",
		`{"changeRequestsEnabled":false}`)
}

// createClientToken creates a client token of the environment production for projects; none: all.
func (s *service) createClientToken(t *testing.T, projects ...string) (clienttokentable.Token, clienttokentable.Secret) {
	t.Helper()
	client := s.client(t)
	store := clienttoken.NewStore(client, s.tables, eventlog.Discard(client, time.Now))
	token, secret, err := store.Create(t.Context(), clienttokentable.Token{Name: "a", Type: clienttokentable.Backend, Environment: "production",
		Projects: projects, CreatedAt: time.Unix(s.clock.Load(), 0)}, clienttoken.MaxTokens, rand.Reader)
	assert.OK(t, err)
	return token, secret
}

// downloadToggles downloads toggles as an SDK does that has a snapshot of another epoch, so that the process reads the
// pointer again. In the first minute of an hour that is more than an hour later, the sweep deletes the parts of replaced
// snapshots.
func (s *service) downloadToggles(t *testing.T, secret clienttokentable.Secret) {
	t.Helper()
	download := func(tag string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.ClientURL+"/api/client/features", nil)
		assert.OK(t, err)
		r.Header.Set("Authorization", secret.Reveal())
		r.Header.Set("If-None-Match", tag)
		response, err := http.DefaultClient.Do(r)
		assert.OK(t, err)
		assert.OK(t, response.Body.Close())
		return response.StatusCode, response.Header.Get("ETag")
	}
	status, tag := download("")
	assert.Equal(t, http.StatusOK, status)
	query, _, _ := strings.Cut(tag, ":")
	status, _ = download(query + `:another.1:v1"`)
	assert.Equal(t, http.StatusOK, status)
	// The sweep corrects that an environment is full.
	assert.OK(t, environment.NewStore(s.client(t), s.tables, nil).SetFull(t.Context(), "production", true))
	// The first sweep reads everything. So does the second one, because the snapshots are from the future, unless the
	// service's own sweep has done so. The third one reads the events.
	for _, at := range []time.Time{time.Now().UTC().Truncate(time.Hour).Add(3 * time.Hour), time.Now(), time.Now()} {
		sweep := s.function(t, "sweep-snapshots", "sweep-snapshots", at)
		// On a busy machine, a call can take longer than the function waits. The next sweep continues.
		process.Await(t, "a sweep of snapshots", 100*time.Millisecond, time.Minute, func() bool {
			_, err := sweep.Invoke(t.Context(), []byte("{}"))
			return err == nil
		})
	}
}

// reportUse sends a report as an SDK does.
func (s *service) reportUse(t *testing.T, secret clienttokentable.Secret) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.ClientURL+"/api/client/metrics",
		strings.NewReader(`{"appName":"shop","bucket":{"toggles":{"banner":{"yes":1}}}}`))
	assert.OK(t, err)
	r.Header.Set("Authorization", secret.Reveal())
	response, err := http.DefaultClient.Do(r)
	assert.OK(t, err)
	assert.OK(t, response.Body.Close())
	assert.Equal(t, http.StatusAccepted, response.StatusCode)
}

// mergeUsage merges what a process counted in the last hour. Applications report in the running hour, which is in the
// future: the service's own sweep does not read it.
func (s *service) mergeUsage(t *testing.T) {
	t.Helper()
	now := time.Now().Add(time.Hour)
	hour := usage.HourOf(now).Add(-time.Hour)
	tally := usage.NewTally()
	tally.Add("old-banner", "shop", usage.Counts{Yes: 1})
	tally.See("old-banner", hour)
	shop := usage.Application{ // of the sample event
		Instances: map[string]usage.Instance{"1": {SeenAt: usage.HourOf(now).Add(time.Minute)}},
	}
	var stored []dynamo.Item // one application more than are kept
	for i := range 2_000 {
		stored = append(stored, usagetable.MarshalApplication(usagetable.Application{
			Name: fmt.Sprint("application-", i), SeenAt: usage.HourOf(now),
		}))
	}
	database.PutAll(t, s.client(t), s.tables[usagetable.Table], stored)
	for _, part := range []struct {
		kind    usagetable.Kind
		hour    time.Time
		content any
	}{
		{usagetable.KindTally, hour, tally},
		{usagetable.KindPresence, usage.HourOf(now), usage.Presence{"shop": shop}},
		{usagetable.KindRequests, hour, usage.Requests{"/edge": {Successful: 1}}},
	} {
		item, err := usagetable.MarshalPart(usagetable.Part{
			Kind: part.kind, Hour: part.hour, Environment: "production", ID: "a",
		}, part.content)
		assert.OK(t, err)
		_, err = s.client(t).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: new(s.tables[usagetable.Table]), Item: item})
		assert.OK(t, err)
	}
	settled := usage.HourOf(now).Add(30 * time.Minute)
	_, err := s.function(t, "sweep-usage", "sweep-usage", settled).Invoke(t.Context(), []byte("{}"))
	assert.OK(t, err)
}

const inAFullAccount = `{"description":"in a full account","expiresAt":"2199-01-01T00:00:00Z"}`

// fillWithExpired fills an account with expired tokens, so that it has the maximum number.
func (s *service) fillWithExpired(t *testing.T, account int64) {
	t.Helper()
	client := s.client(t)
	store := pat.NewStore(client, s.tables, eventlog.Discard(client, time.Now), rand.Reader)
	tokens, err := store.ListOf(t.Context(), account)
	assert.OK(t, err)
	for n := len(tokens); n < installation.DefaultTokenLimit; n++ {
		lastYear := time.Unix(s.clock.Load(), 0).AddDate(-1, 0, 0)
		_, _, err := store.Create(t.Context(), pat.PAT{
			UserID: account, Description: fmt.Sprint("expired ", n), CreatedAt: lastYear, ExpiresAt: lastYear,
		}, pat.Owner{Limit: installation.DefaultTokenLimit})
		assert.OK(t, err)
	}
}

// unrecorded are the tables whose changes are not recorded: the log itself, a person's own preferences, counts of
// requests and use, the reservations of names, which change with their accounts only, and what is compiled from other
// tables.
var unrecorded = []string{"Events", "Feedback", "Traffic", "Usage", "Identifiers", "Snapshots"}

// unrecordedKinds are the kinds of items of the table Access whose changes are not recorded: what pipelines report,
// and preferences.
var unrecordedKinds = []string{"code-references", "favorites", "saved-views"}

// bookkeeping are attributes whose changes are not recorded: those of counters and sums, seenAt, and whether an
// environment is full. userId, id, name and selector are keys, kind is in the condition that an account exists, and
// createdAt is in the condition of firstSeen and lastSeen.
var bookkeeping = []string{"userId", "id", "name", "kind", "lastAccountId", "lastId", "lastCreatedAt", "serviceAccounts",
	"people", "claim", "groups", "size", "seenAt", "firstSeen", "lastSeen", "selector", "evaluationRequests",
	"full", "tokens", "bytes", "createdAt"}

// change returns what a call changes, such as "Update on Users", or "" if it changes nothing that is recorded, and
// whether it appends an event to the log.
func (c call) change() (changed string, appends bool) {
	for _, a := range c.Accesses {
		write := strings.TrimSuffix(strings.TrimPrefix(a.Action, "dynamodb:"), "Item")
		if !slices.Contains([]string{"Put", "Update", "Delete"}, write) {
			continue
		}
		counts := write == "Update" &&
			!slices.ContainsFunc(a.Attributes, func(name string) bool { return !slices.Contains(bookkeeping, name) })
		isUnrecorded := slices.Contains(unrecorded, a.Table) ||
			a.Table == "Access" && slices.Contains(unrecordedKinds, a.Leading)
		if !isUnrecorded && !counts {
			changed = write + " on " + a.Table
		}
		appends = appends || a.Table == "Events"
	}
	return changed, appends
}

// withoutRecord returns the functions that may append to the event log, but have not recorded a change. Functions share
// roles, so a permission can be used although one of them has not.
func withoutRecord(template *samtemplate.Template, calls []call) (names []string) {
	recorded := map[string]bool{}
	for _, c := range calls {
		if changed, appends := c.change(); changed != "" && appends && c.Err == nil {
			recorded[c.Function] = true
		}
	}
	for _, f := range template.Functions {
		mayRecord := slices.ContainsFunc(f.Policies, func(p samtemplate.Statement) bool {
			return slices.Contains(p.Actions, "dynamodb:PutItem") && slices.ContainsFunc(p.Resources, func(r string) bool {
				return strings.HasSuffix(r, ":table/Events")
			})
		})
		if mayRecord && !recorded[f.Name] {
			names = append(names, f.Name)
		}
	}
	return names
}

// requireRecorded checks that each call that changed something appended an event to the log in the same transaction.
func requireRecorded(t *testing.T, calls []call) {
	t.Helper()
	for _, c := range calls {
		changed, appends := c.change()
		// These were recorded when the deletion began. A creation can continue it.
		ends := changed == "Delete on Users" || changed == "Delete on Environments" ||
			c.Function == "remove-environment" && c.API == "TransactWriteItems"
		// A project is marked before it is closed. Deletions of accounts and groups end their roles in projects.
		indirect := changed == "Update on Access" && c.API == "UpdateItem"
		if changed != "" && !appends && !ends && !indirect {
			t.Errorf("%s records nothing: %s in %s", c.Function, changed, c.API)
		}
	}
}

// mustSend sends a request, which must succeed.
func (s *service) mustSend(t *testing.T, request, as, body string) {
	t.Helper()
	if status, response := s.send(t, request, as, body); status/100 != 2 {
		t.Fatalf("%s: %d %s", request, status, response)
	}
}

// sendSamples sends the requests of the sample events, whatever their responses are.
func (s *service) sendSamples(t *testing.T) {
	t.Helper()
	for _, u := range s.Users {
		s.tokens[fmt.Sprint("user:", u.ID)] = u.PAT
	}
	files, err := filepath.Glob("../../events/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no sample events: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		assert.OK(t, err)
		var event events.APIGatewayProxyRequest
		principal, ok := "", false
		if json.Unmarshal(content, &event) == nil {
			principal, ok = event.RequestContext.Authorizer["principalId"].(string)
		}
		// These would end the access of other requests.
		endsAccess := strings.HasSuffix(file, "delete-pat.json") || strings.HasSuffix(file, "delete-user.json")
		if !ok || endsAccess {
			continue
		}
		s.tokens[principal] = cmp.Or(s.tokens[principal], s.APIToken)
		query := url.Values(event.MultiValueQueryStringParameters).Encode()
		s.send(t, event.HTTPMethod+" "+event.Path+"?"+query, principal, event.Body)
	}
}
