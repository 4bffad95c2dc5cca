package contract_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/user"
)

// ofAuthorizer says whether a call looks a credential up; all others are the operations'.
func ofAuthorizer(operation string, input any) bool {
	get, isGet := input.(*dynamodb.GetItemInput)
	return operation == "BatchGetItem" || isGet && *get.TableName == "ApiTokens"
}

// ofOperation says whether a call is neither the authorizer's look-up nor its write of seenAt.
func ofOperation(operation string, input any) bool {
	update, isUpdate := input.(*dynamodb.UpdateItemInput)
	return !ofAuthorizer(operation, input) && !(isUpdate && *update.TableName == "PersonalAccessTokens")
}

// all fails every attempt of the calls that fit.
func all(what outcome, fits func(operation string, input any) bool) func(string, any) outcome {
	return func(operation string, input any) outcome {
		if fits(operation, input) {
			return what
		}
		return succeeds
	}
}

const (
	textInternal    = "The request could not be processed because of an internal error."
	textUnavailable = "The service cannot reach its data at the moment. Please try again."
)

// TestSection1_FaultBelow: "A fault below: 500 InternalError when the authorizer cannot read its tables (never 401), 503 ServiceUnavailable
// when a function cannot; both after the retries that the deadline allows, nothing half written." All functions' time is cut to two seconds,
// one and a half of which are for attempts.
func TestSection1_FaultBelow(t *testing.T) {
	t.Parallel()
	for _, op := range operations() {
		t.Run("503 of "+op.name, func(t *testing.T) {
			t.Parallel()
			f := &faults{}
			s := start(t, options{faults: f, edit: hasty()})
			token, caller := op.allowed(t, s)
			c := op.valid(t, s, caller).as(token)
			f.set(all(fails, ofOperation))
			begin := time.Now()
			a := s.send(t, c)
			took := time.Since(begin)
			a.wantMessage(t, 503, textUnavailable)
			if a.header.Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
			s.wantLogged(t, a)
			if attempts := f.attempts.Load(); attempts < 3 || took < time.Second {
				t.Errorf("given up after %d attempts, %v", attempts, took)
			}
			f.set(all(rejected, ofOperation)) // repeating cannot mend it
			a = s.send(t, c)
			a.want(t, 500)
			s.wantLogged(t, a)
			f.set(nil)
			s.send(t, c).want(t, op.success) // so nothing was written before
		})
	}
	for _, kind := range []string{"a PAT", "an API token"} {
		t.Run("500 of the authorizer for "+kind, func(t *testing.T) {
			t.Parallel()
			f := &faults{}
			s := start(t, options{faults: f, edit: hasty()})
			token := s.APIToken
			if kind == "a PAT" {
				token = s.admin(t)
			}
			for _, what := range []outcome{fails, rejected, panics} {
				f.set(all(what, ofAuthorizer))
				begin := time.Now()
				a := s.send(t, get(typesPath).as(token))
				took := time.Since(begin)
				a.wantMessage(t, 500, textInternal)
				if a.header.Get("WWW-Authenticate") != "" {
					t.Error("a fault with WWW-Authenticate")
				}
				if attempts := f.attempts.Load(); what == fails && (attempts < 3 || took < time.Second) {
					t.Errorf("given up after %d attempts, %v", attempts, took)
				}
				id := a.header.Get("X-Request-Id")
				line := s.log.wait(t, "the request "+id, func(l logLine) bool { return l.Level == "ERROR" && (l.APIRequestID == id || l.RequestID == id) })
				if line.Cause == "" {
					t.Errorf("the log has no cause: %s", line.raw)
				}
			}
			f.set(nil)
			s.send(t, get(typesPath).as(token)).want(t, 200)
		})
	}
	t.Run("a fault that passes within the deadline is nobody's business", func(t *testing.T) {
		t.Parallel()
		f := &faults{}
		s := start(t, options{faults: f})
		for _, op := range operations() {
			token, caller := op.allowed(t, s)
			c := op.valid(t, s, caller).as(token)
			f.set(func(string, any) outcome {
				if f.attempts.Load() < 2 {
					return fails
				}
				return succeeds
			})
			s.send(t, c).want(t, op.success)
			if f.attempts.Load() != 2 {
				t.Errorf("%s: %d attempts met the fault", op.name, f.attempts.Load())
			}
			f.set(nil)
		}
	})
	t.Run("500 where a function panics", func(t *testing.T) {
		t.Parallel()
		f := &faults{}
		s := start(t, options{faults: f})
		f.set(all(panics, ofOperation))
		a := s.send(t, get(typesPath).as(s.APIToken))
		a.wantMessage(t, 500, "Something went wrong on our side. Please try again.")
		s.wantLogged(t, a)
	})
	t.Run("502 where a function does not answer in its time", func(t *testing.T) {
		t.Parallel()
		f := &faults{released: make(chan struct{})}
		defer close(f.released)
		s := start(t, options{faults: f, edit: hasty()})
		f.set(all(hangs, ofOperation))
		s.send(t, get(typesPath).as(s.APIToken)).wantMessage(t, 502, textInternal)
	})
	t.Run("other requests are not harmed", func(t *testing.T) {
		t.Parallel()
		f := &faults{}
		s := start(t, options{faults: f, edit: hasty()})
		f.set(all(fails, func(_ string, input any) bool {
			scan, ok := input.(*dynamodb.ScanInput)
			return ok && *scan.TableName == "ContextFields"
		}))
		s.send(t, get(typesPath).as(s.APIToken)).want(t, 200)
		s.send(t, get(contextPath).as(s.APIToken)).want(t, 503)
		s.send(t, get("/nowhere")).want(t, 404)
	})
}

// wantLogged demands the log line of a function's fault: the error's id, the request's, and the cause.
func (s *service) wantLogged(t *testing.T, a answer) {
	t.Helper()
	id := a.wantError(t, a.status).ID
	line := s.log.wait(t, "the error "+id, func(l logLine) bool { return l.ErrorID == id })
	if line.Level != "ERROR" || line.Cause == "" || line.APIRequestID != a.header.Get("X-Request-Id") {
		t.Errorf("%s: the log says %s", a.what(), line.raw)
	}
}

// TestSection1_NothingHalfWritten: after a 503 no table has changed.
func TestSection1_NothingHalfWritten(t *testing.T) {
	t.Parallel()
	f := &faults{}
	s := start(t, options{faults: f, edit: hasty()})
	caller, token := s.person(t, "Admin")
	account := s.serviceAccount(t)
	days := int64(9)
	kind := s.featureType(t, &days)
	own, _ := s.patUntil(t, caller, user.Person, time.Now().AddDate(1, 0, 0))
	state := func() string {
		reserved, stored := s.tokensOf(t, account)
		ownReserved, ownStored := s.tokensOf(t, caller)
		return fmt.Sprint(len(reserved), len(stored), len(ownReserved), len(ownStored), s.counter(t), s.feedback(t, caller, "faulty"),
			s.item(t, "FeatureTypes", dynamo.Item{"id": dynamo.S(kind)}).Int("lifetimeDays"))
	}
	before := state()
	f.set(all(fails, func(operation string, input any) bool {
		return ofOperation(operation, input) && (strings.HasPrefix(operation, "Update") || strings.HasPrefix(operation, "Transact"))
	}))
	var running sync.WaitGroup
	for _, c := range []call{
		putFeedback("faulty", `{"neverShow":true}`), putLifetime(kind, `{"lifetimeDays":1}`), postToken(account, newToken()), deleteToken(text(own)),
	} {
		running.Go(func() { s.send(t, c.as(token)).wantMessage(t, 503, textUnavailable) })
	}
	running.Wait()
	if diff := cmp.Diff(before, state()); diff != "" {
		t.Error(diff)
	}
}
