package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
)

// ClientTokenLine is a client token in a line of a file.
type ClientTokenLine struct {
	Line   int
	Secret string // of another installation; empty: the token is to be created
	ClientTokenRequest
}

// ClientTokensImported is the result of ImportClientTokens.
type ClientTokensImported struct {
	Created   []ClientToken `json:"created"`
	Unchanged int           `json:"unchanged"` // tokens that exist as they are described
}

// ImportClientTokens creates client tokens with the secrets of another installation, and omits those that exist as they
// are described. It checks all of them before it creates the first one: its error names each line that cannot be
// imported, up to maxProblems, and then nothing is created. With dryRun it creates nothing. Errors do not contain secrets.
func (o *Operator) ImportClientTokens(ctx context.Context, all []ClientTokenLine, dryRun bool) (
	result ClientTokensImported, err error,
) {
	result.Created = []ClientToken{}
	stored, err := o.readForTokens(ctx)
	if err != nil {
		return result, err
	}
	known := map[access.Selector]clienttokentable.Token{}
	for _, t := range stored.tokens {
		known[t.Selector] = t
	}
	lines := map[access.Selector]int{}
	var toCreate []importedToken
	var problems []string
	for _, i := range all {
		t, err := o.checkImport(i, stored)
		if err == nil {
			if first := lines[t.secret.Selector]; first != 0 {
				err = fmt.Errorf("line %d has the same secret", first)
			}
			lines[t.secret.Selector] = i.Line
		}
		other, exists := known[t.secret.Selector]
		switch {
		case err == nil && exists && !describes(t.token, other):
			err = fmt.Errorf("the token exists, and differs: %s", other.ID())
		case err == nil && exists:
			result.Unchanged++
		case err == nil:
			toCreate = append(toCreate, t)
		}
		if err != nil {
			problems = append(problems, i.problem(err))
		}
	}
	if err := o.rejectLines("nothing was imported", problems, len(stored.tokens)+len(toCreate)); err != nil {
		return result, err
	}
	for _, t := range toCreate {
		created := clienttokentable.Import(t.token, t.secret)
		if !dryRun {
			if created, err = o.clientTokens.Import(ctx, t.token, t.secret, o.installation.ClientTokenLimit); err != nil {
				return result, fmt.Errorf("%d of %d tokens were imported, repeat the command: line %d: %w", len(result.Created),
					len(toCreate), t.line, exitstatus.Explain(err))
			}
		}
		result.Created = append(result.Created, o.newClientToken(created, stored.toggles))
	}
	return result, nil
}

// storedForTokens is what lines with client tokens are checked against.
type storedForTokens struct {
	environments []environment.Environment
	projects     []*access.Project
	tokens       []clienttokentable.Token
	toggles      map[string]int // by project: those that are not archived
}

func (o *Operator) readForTokens(ctx context.Context) (s storedForTokens, err error) {
	if s.environments, err = o.environments.List(ctx); err != nil {
		return s, err
	}
	if s.projects, err = o.projects.List(ctx); err != nil {
		return s, err
	}
	if s.tokens, err = o.clientTokens.List(ctx); err != nil {
		return s, err
	}
	s.toggles, err = o.activeToggles(ctx)
	return s, err
}

// problem describes an error of a line.
func (l ClientTokenLine) problem(err error) string {
	return fmt.Sprintf("line %d (%.100q): %v", l.Line, l.Name, err)
}

// rejectLines returns an error if lines have problems, or if there would be more than the maximum number of client tokens.
func (o *Operator) rejectLines(result string, problems []string, tokens int) error {
	if limit := o.installation.ClientTokenLimit; len(problems) == 0 && tokens > limit {
		problems = []string{fmt.Sprintf("there would be %d client tokens, the maximum is %d", tokens, limit)}
	}
	if len(problems) == 0 {
		return nil
	}
	return exitstatus.Errorf(exitstatus.Rejected, "%s: %s", result, firstOf(problems))
}

// maxProblems is the maximum number of lines that an error names.
const maxProblems = 20

// firstOf joins the first problems, and says how many more there are.
func firstOf(problems []string) string {
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(problems, "; ")
}

// importedToken is a client token that can be imported.
type importedToken struct {
	line   int
	token  clienttokentable.Token
	secret clienttokentable.Secret
}

// checkImport returns the token that a line describes.
func (o *Operator) checkImport(i ClientTokenLine, stored storedForTokens) (t importedToken, err error) {
	secret, ok := clienttokentable.ParseImported(i.Secret)
	if !ok {
		return t, fmt.Errorf("its secret %s", clienttokentable.ImportedMust())
	}
	token, err := o.checkLine(i, stored)
	if err != nil {
		return t, err
	}
	return importedToken{i.Line, token, secret}, nil
}

// checkLine returns the token that a line describes, without its secret and its expiry.
func (o *Operator) checkLine(i ClientTokenLine, stored storedForTokens) (clienttokentable.Token, error) {
	token, err := o.newToken(i.ClientTokenRequest)
	if err != nil {
		return token, err
	}
	if i.Type != clienttokentable.Backend && i.Type != clienttokentable.Frontend {
		return token, fmt.Errorf("the type %.50q must be backend or frontend", i.Type)
	}
	nameOf := func(e environment.Environment) string { return e.Name }
	if err := checkKnown("environment", i.Environment, stored.environments, nameOf); err != nil {
		return token, err
	}
	for _, id := range token.Projects {
		if !slices.ContainsFunc(stored.projects, func(p *access.Project) bool { return p.ID == id }) {
			return token, fmt.Errorf("there is no project %q", id)
		}
	}
	return token, nil
}

// describes reports whether a stored token has the name, the type, the environment and the projects of t.
func describes(t, stored clienttokentable.Token) bool {
	sorted := func(projects []string) []string { return slices.Sorted(slices.Values(projects)) }
	return t.Name == stored.Name && t.Type == stored.Type && t.Environment == stored.Environment &&
		slices.Equal(sorted(t.Projects), sorted(stored.Projects))
}
