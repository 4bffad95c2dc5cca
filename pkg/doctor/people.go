package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"toggleadmin/pkg/oidc"
	"toggleadmin/pkg/user"
)

// emails checks that no two people have the same e-mail address. Earlier versions did not prevent it.
func (d *doctor) emails(ctx context.Context) (string, error) {
	i := d.Installation
	accounts, err := user.NewStore(i.Client, i.Tables).List(ctx)
	if err != nil {
		return "", err
	}
	people := map[string][]string{} // ids by address
	var shared []string
	for _, u := range accounts {
		if u.Kind != user.Person || u.Email == "" {
			continue
		}
		address := strings.ToLower(u.Email)
		if people[address] = append(people[address], fmt.Sprint(u.ID)); len(people[address]) == 2 {
			shared = append(shared, address)
		}
	}
	if len(shared) == 0 {
		return fmt.Sprintf("%d, each of one person", len(people)), nil
	}
	for n, address := range shared {
		shared[n] = address + " (users " + strings.Join(people[address], ", ") + ")"
	}
	return "", problem("more than one person has the address "+strings.Join(shared[:min(len(shared), maxNamed)], "; "),
		"nobody can sign in by it: remove the attribute email from the item of all but one of them in the table "+i.Tables.Users)
}

// issuer checks that the issuer can be reached and has the configured name. The functions read the same document.
func (d *doctor) issuer(ctx context.Context) (string, error) {
	i := d.Installation
	if i.Issuer == "" {
		return "the installation has no OpenID Connect issuer", errSkip
	}
	issuer, err := oidc.New(oidc.Config{
		Issuer: i.Issuer, ClientID: i.ClientID, Loopback: i.IsLocal(), Now: d.Now, Logger: slog.New(slog.DiscardHandler), Transport: d.HTTP.Transport,
	})
	if err != nil {
		return "", err
	}
	if _, err := issuer.Metadata(ctx); err != nil {
		return "", problem(fmt.Sprintf("the discovery document of %s cannot be used: %v", i.Issuer, err),
			"compare the issuer with the one in its document (docs/sign-in.md); people with known keys can still sign in")
	}
	return i.Issuer + " publishes its discovery document", nil
}
