package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/loopback"
	"toggleadmin/pkg/platform/oidc"
)

const (
	// tokenName is the name of the round trip's credentials. It identifies those that an interrupted round trip did not
	// delete.
	tokenName = "toggleadmin doctor" //nolint:gosec // not a credential
	// tokenLifetime limits the use of a credential that was not deleted.
	tokenLifetime = 5 * time.Minute
	// deleteTimeout limits the deletion of the credential, which runs after a check that has timed out too.
	deleteTimeout = 5 * time.Second
	// operationPath is an operation that every credential may call.
	operationPath = "/api/admin/feature-types"
)

// issuer checks that the issuer can be reached and has the configured name. The functions read the same document.
func (d *doctor) issuer(ctx context.Context) (string, error) {
	i := d.Installation
	if i.Issuer == "" {
		return "the installation has no OpenID Connect issuer", errSkip
	}
	issuer, err := oidc.New(oidc.Config{
		Issuer:    i.Issuer,
		ClientID:  i.ClientID,
		Loopback:  i.IsLocal(),
		Now:       d.Now,
		Logger:    slog.New(slog.DiscardHandler),
		Transport: d.HTTP.Transport,
	})
	if err != nil {
		return "", err
	}
	if _, err := issuer.Metadata(ctx); err != nil {
		return "", problem(fmt.Sprintf("the discovery document of %s cannot be used: %v", i.Issuer, err),
			"compare the issuer with the one in its document (docs/access.md); people with known keys can still sign in")
	}
	return i.Issuer + " publishes its discovery document", nil
}

// CheckURL returns an error if a credential must not be sent to the URL.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return exitstatus.Errorf(exitstatus.Usage,
			"%q is not the URL of an API: use one such as https://api.example.com/prod", text)
	}
	if u.Scheme == "http" && !loopback.IsHost(u.Hostname()) {
		return exitstatus.Errorf(exitstatus.Usage, "%q is not encrypted: credentials are sent over https only", text)
	}
	return nil
}

// roundTrip creates a credential, calls the API with it, deletes it, and calls the API again.
func (d *doctor) roundTrip(ctx context.Context) (string, error) {
	address := d.Installation.BaseURL
	if err := CheckURL(address); err != nil {
		return "", problem(err.Error(), "correct the URL")
	}
	tokens := apitoken.NewStore(d.Installation.Client, d.Installation.Tables, d.Installation.Log(d.Now))
	if err := d.deleteLeftBehind(ctx, tokens); err != nil {
		return "", err
	}
	now := d.Now()
	token, err := tokens.Create(ctx,
		apitoken.APIToken{Name: tokenName, CreatedAt: now, ExpiresAt: new(now.Add(tokenLifetime))}, d.Random)
	if err != nil {
		return "", err
	}
	detail, err := d.useValid(ctx, address, token)
	deleting, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	if err := errors.Join(err, tokens.Delete(deleting, token.Selector)); err != nil {
		return "", err
	}
	if cache, _ := strconv.Atoi(d.Installation.Stack.Parameters["AuthorizerCacheSeconds"]); cache > 0 {
		return fmt.Sprintf("%s; revocations take effect within %d s (AuthorizerCacheSeconds)", detail, cache), nil
	}
	switch status, err := d.call(ctx, address, token); {
	case err != nil:
		return "", problem(fmt.Sprintf("the API at %s stopped responding: %v", address, err), "run doctor again")
	case status != http.StatusUnauthorized:
		return "", problem(fmt.Sprintf("a deleted credential gets the status %d, not 401", status),
			"does the API cache the authorizer's results although the stack's parameter AuthorizerCacheSeconds is 0? Deploy the stack again")
	}
	return detail + ", and rejected the credential after its deletion", nil
}

// useValid calls the API with a valid credential.
func (d *doctor) useValid(ctx context.Context, address string, token access.Token) (string, error) {
	start := d.Now()
	switch status, err := d.call(ctx, address, token); {
	case err != nil:
		return "", problem(fmt.Sprintf("the API at %s does not respond: %v", address, err),
			"check the URL, the network, the stage and the DNS record of a custom domain; --api-url names another URL")
	case status == http.StatusUnauthorized:
		return "", problem(address+" rejects a valid credential",
			"is it the URL of another installation? Otherwise read the authorizer's log group: its role may lack a permission on the tables")
	case status != http.StatusOK:
		return "", problem(fmt.Sprintf("%s%s responds with the status %d", address, operationPath, status),
			"read the logs of the authorizer and of get-all-feature-types")
	}
	return fmt.Sprintf("%s responded in %s", address, d.Now().Sub(start).Round(time.Millisecond)), nil
}

func (d *doctor) call(ctx context.Context, address string, token access.Token) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+operationPath, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", token.Reveal())
	response, err := d.HTTP.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// deleteLeftBehind deletes expired credentials of interrupted round trips.
func (d *doctor) deleteLeftBehind(ctx context.Context, tokens *apitoken.Store) error {
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
