// Package operator is what an operator does to an installation from the command line: accounts, tokens and toggles, beside what the API
// offers to its own clients.
//
// The one concept: each method is one command. It checks what it is given, does it through the nouns' stores, which keep every rule and
// every derived attribute, and gives back what the command prints; the types' JSON members are the stable output of `--json`. Its errors
// are of package outcome.
//
// Not here: opening the installation (pkg/installation), flags, tables on the terminal and questions (cmd/toggleadmin).
package operator

import (
	"io"
	"time"

	"toggleadmin/pkg/apitoken"
	"toggleadmin/pkg/contextfield"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/featuretype"
	"toggleadmin/pkg/installation"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// Operator works on one installation. It is safe for concurrent use.
type Operator struct {
	users     *user.Store
	pats      *pat.Store
	apiTokens *apitoken.Store
	features  *feature.Store
	types     *featuretype.Store
	fields    *contextfield.Store

	tokenLimit int // of a service account
	now        func() time.Time
	random     io.Reader
}

// New makes an operator of an opened installation. random must be cryptographically secure.
func New(i *installation.Installation, now func() time.Time, random io.Reader) *Operator {
	t := i.Tables
	return &Operator{
		users:     user.NewStore(i.Client, t),
		pats:      pat.NewStore(i.Client, t, random),
		apiTokens: apitoken.NewStore(i.Client, t),
		features:  feature.NewStore(i.Client, t),
		types:     featuretype.NewStore(i.Client, t),
		fields:    contextfield.NewStore(i.Client, t),

		tokenLimit: i.TokenLimit, now: now, random: random,
	}
}
