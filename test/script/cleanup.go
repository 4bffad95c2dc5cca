package script

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// token is a personal access token of a service account that a script made.
type token struct{ account, id, secret string }

// cleanUp deletes the tokens that the script made and puts lifetimes back.
func (s *session) cleanUp() error {
	var errs []error
	left := map[string][]token{} // by account: what could not delete itself, because it has expired
	for _, made := range s.tokens {
		switch status, err := s.deleteToken(made.id, made.secret); {
		case err != nil:
			errs = append(errs, err)
		case status != http.StatusOK:
			left[made.account] = append(left[made.account], made)
		}
	}
	for account, tokens := range left {
		errs = append(errs, s.deleteOthers(account, tokens))
	}
	for id, days := range s.lifetimes {
		if err := s.must(http.StatusOK, http.MethodPut, "/api/admin/feature-types/"+id+"/lifetime", "admin", `{"lifetimeDays":`+days+`}`); err != nil {
			errs = append(errs, fmt.Errorf("put back the lifetime of %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// deleteOthers deletes expired tokens of an account by another token of the same account, which then deletes itself. Those that were
// deleted by the script are 404.
func (s *session) deleteOthers(account string, tokens []token) error {
	helper, err := s.makeToken(account, "clean-up "+tokens[0].id)
	if err != nil {
		return err
	}
	var errs []error
	for _, one := range append(tokens, helper) {
		status, err := s.deleteToken(one.id, helper.secret)
		if err == nil && status != http.StatusOK && status != http.StatusNotFound {
			err = fmt.Errorf("delete token %s: %s", one.id, s.last)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *session) makeToken(account, description string) (token, error) {
	before := len(s.tokens)
	expires := s.ground.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	body := fmt.Sprintf(`{"description":%q,"expiresAt":%q}`, description, expires)
	if err := s.must(http.StatusCreated, http.MethodPost, "/api/admin/service-account/"+account+"/token", "admin", body); err != nil {
		return token{}, err
	}
	if len(s.tokens) == before {
		return token{}, fmt.Errorf("read the new token: %s", s.last)
	}
	return s.tokens[before], nil
}

// deleteToken deletes a token as the bearer of a secret and gives the status.
func (s *session) deleteToken(id, secret string) (int, error) {
	req, err := s.parse(http.MethodDelete, []string{"/api/admin/user/tokens/" + id, "as", secret}, nil)
	if err != nil {
		return 0, err
	}
	if err := s.send(req); err != nil {
		return 0, err
	}
	return s.last.status, nil
}

// must makes a request that has to be answered with a status.
func (s *session) must(status int, method, path, who, body string) error {
	req, err := s.parse(method, []string{path, "as", who, body}, nil)
	if err != nil {
		return err
	}
	if err := s.send(req); err != nil {
		return err
	}
	if s.last.status != status {
		return fmt.Errorf("want %d: %s", status, s.last)
	}
	return nil
}

// keep-lifetime TYPE…
func cmdKeepLifetime(ts *testscript.TestScript, neg bool, args []string) {
	refuseNegation(ts, neg)
	s := of(ts)
	req, err := s.parse(http.MethodGet, []string{"/api/admin/feature-types", "as", "admin"}, nil)
	ts.Check(err)
	ts.Check(s.send(req))
	list, err := s.last.json()
	ts.Check(err)
	for _, id := range args {
		days, there := lookup(list, "types[id="+id+"].lifetimeDays")
		expect(ts, false, there, "there is no type %s", id)
		s.lifetimes[id] = show(days)
	}
}

// fill-tokens ACCOUNT
func cmdFillTokens(ts *testscript.TestScript, neg bool, args []string) {
	const most = 100 // of the parameter MaxTokensPerAccount
	refuseNegation(ts, neg)
	if len(args) != 1 {
		ts.Fatalf("usage: fill-tokens ACCOUNT")
	}
	s := of(ts)
	for i := range most + 1 {
		if _, err := s.makeToken(args[0], fmt.Sprintf("filling %s %d", ts.Getenv("RANDOM"), i)); err == nil {
			continue
		} else if s.last == nil || s.last.status == http.StatusCreated || strings.Contains(err.Error(), "openapi.yaml") {
			ts.Check(err)
		}
		ts.Logf("< %s (after %d tokens)", s.last, i)
		return
	}
	ts.Fatalf("the account has more than %d tokens and got another one", most)
}
