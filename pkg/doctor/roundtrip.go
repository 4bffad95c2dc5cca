package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/outcome"
)

const (
	// tokenName is the name of the credential that the round trip makes, by which one that was left behind is found.
	tokenName = "toggleadmin doctor" //nolint:gosec // a name, and no credential
	// tokenLife bounds what a credential that was left behind is good for.
	tokenLife = 5 * time.Minute
	// removeTime is what the removal gets, also when the check's own time is over.
	removeTime = 5 * time.Second
	// operationPath is of an operation that every credential may call.
	operationPath = "/api/admin/feature-types"
)

// CheckURL refuses an address of the API to which a credential must not be sent.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return outcome.New(outcome.Usage, "%q is no address of an API: give one such as https://api.example.com/prod", text)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return outcome.New(outcome.Usage, "%q is not encrypted: a credential is sent there by https only", text)
	}
	return nil
}

// roundTrip makes a credential, calls the API with it, removes it, and calls again.
func (d *doctor) roundTrip(ctx context.Context) (detail string, err error) {
	address := d.APIURL
	if address == "" {
		address = d.Installation.BaseURL
	}
	if err := CheckURL(address); err != nil {
		return "", problem(err.Error(), "correct the address")
	}
	tokens := apitoken.NewStore(d.Installation.Client, d.Installation.Tables)
	if err := d.removeLeftBehind(ctx, tokens); err != nil {
		return "", err
	}
	token, err := tokens.Create(ctx, apitoken.APIToken{Name: tokenName, ExpiresAt: new(d.Now().Add(tokenLife))}, d.Random)
	if err != nil {
		return "", err
	}
	removed := false
	remove := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
		defer cancel()
		return tokens.Delete(ctx, token.Selector)
	}
	defer func() {
		if !removed {
			err = errors.Join(err, remove())
		}
	}()
	began := d.Now()
	switch status, err := d.call(ctx, address, token); {
	case err != nil:
		return "", problem(fmt.Sprintf("the API does not answer at %s: %v", address, err),
			"check the address, the network and the stage; --api-url names another address, such as a custom domain")
	case status == http.StatusUnauthorized:
		return "", problem(fmt.Sprintf("%s refuses a valid credential", address),
			"is it another installation's address? Else look at the authorizer's log group: its role may lack a permission on the tables")
	case status != http.StatusOK:
		return "", problem(fmt.Sprintf("%s%s answers %d", address, operationPath, status), "look at the logs of the authorizer and of list-feature-types")
	}
	took := d.Now().Sub(began).Round(time.Millisecond)
	if err := remove(); err != nil {
		return "", err
	}
	removed = true
	detail = fmt.Sprintf("%s answered in %s", address, took)
	if cache, _ := strconv.Atoi(d.Installation.Stack.Parameters["AuthorizerCacheSeconds"]); cache > 0 {
		return fmt.Sprintf("%s; revocations take effect within %d s (AuthorizerCacheSeconds)", detail, cache), nil
	}
	switch status, err := d.call(ctx, address, token); {
	case err != nil:
		return "", problem(fmt.Sprintf("the API stopped answering at %s: %v", address, err), "run doctor again")
	case status != http.StatusUnauthorized:
		return "", problem(fmt.Sprintf("a removed credential is answered with %d, not 401", status),
			"is the authorizer's cache on at the API, though the stack's parameter says 0? Deploy the stack again")
	}
	return detail + ", and refused the credential once it was removed", nil
}

func (d *doctor) call(ctx context.Context, address string, token auth.Token) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+operationPath, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", token.Reveal())
	answer, err := d.HTTP.Do(request)
	if err != nil {
		return 0, err
	}
	answer.Body.Close()
	return answer.StatusCode, nil
}

// removeLeftBehind removes the credentials of earlier round trips that ended before they could.
func (d *doctor) removeLeftBehind(ctx context.Context, tokens *apitoken.Store) error {
	all, err := tokens.List(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.Name == tokenName && t.Expired(d.Now()) {
			if err := tokens.Delete(ctx, t.Selector); err != nil {
				return err
			}
		}
	}
	return nil
}
