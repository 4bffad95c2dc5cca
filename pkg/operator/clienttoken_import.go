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

// ClientTokenImport is a client token of another installation, in a line of a file.
type ClientTokenImport struct {
	Line   int
	Secret string
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
func (o *Operator) ImportClientTokens(ctx context.Context, all []ClientTokenImport, dryRun bool) (
	result ClientTokensImported, err error,
) {
	result.Created = []ClientToken{}
	environments, err := o.environments.List(ctx)
	if err != nil {
		return result, err
	}
	projects, err := o.projects.List(ctx)
	if err != nil {
		return result, err
	}
	existing, err := o.clientTokens.List(ctx)
	if err != nil {
		return result, err
	}
	used, err := o.activeToggles(ctx)
	if err != nil {
		return result, err
	}
	known := map[access.Selector]clienttokentable.Token{}
	for _, t := range existing {
		known[t.Selector] = t
	}
	lines := map[access.Selector]int{}
	var toCreate []importedToken
	var problems []string
	for _, i := range all {
		t, err := o.checkImport(i, environments, projects)
		if err == nil {
			if first := lines[t.secret.Selector]; first != 0 {
				err = fmt.Errorf("line %d has the same secret", first)
			}
			lines[t.secret.Selector] = i.Line
		}
		stored, exists := known[t.secret.Selector]
		switch {
		case err == nil && exists && !describes(t.token, stored):
			err = fmt.Errorf("the token exists, and differs: %s", stored.ID())
		case err == nil && exists:
			result.Unchanged++
		case err == nil:
			toCreate = append(toCreate, t)
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("line %d (%.100q): %v", i.Line, i.Name, err))
		}
	}
	if limit := o.installation.ClientTokenLimit; len(problems) == 0 && len(existing)+len(toCreate) > limit {
		problems = append(problems, fmt.Sprintf("there would be %d client tokens, the maximum is %d",
			len(existing)+len(toCreate), limit))
	}
	if len(problems) > 0 {
		return result, exitstatus.Errorf(exitstatus.Rejected, "nothing was imported: %s", firstOf(problems))
	}
	for _, t := range toCreate {
		created := clienttokentable.Import(t.token, t.secret)
		if !dryRun {
			if created, err = o.clientTokens.Import(ctx, t.token, t.secret, o.installation.ClientTokenLimit); err != nil {
				return result, fmt.Errorf("%d of %d tokens were imported, repeat the command: line %d: %w", len(result.Created),
					len(toCreate), t.line, exitstatus.Explain(err))
			}
		}
		result.Created = append(result.Created, o.newClientToken(created, used))
	}
	return result, nil
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

// checkImport returns the token that a line describes. environments and projects are all that exist.
func (o *Operator) checkImport(
	i ClientTokenImport, environments []environment.Environment, projects []*access.Project,
) (t importedToken, err error) {
	secret, ok := clienttokentable.ParseImported(i.Secret)
	if !ok {
		return t, fmt.Errorf("its secret %s", clienttokentable.ImportedMust())
	}
	token, err := o.newToken(i.ClientTokenRequest)
	if err != nil {
		return t, err
	}
	if i.Type != clienttokentable.Backend && i.Type != clienttokentable.Frontend {
		return t, fmt.Errorf("the type %.50q must be backend or frontend", i.Type)
	}
	nameOf := func(e environment.Environment) string { return e.Name }
	if err := checkKnown("environment", i.Environment, environments, nameOf); err != nil {
		return t, err
	}
	for _, id := range token.Projects {
		if !slices.ContainsFunc(projects, func(p *access.Project) bool { return p.ID == id }) {
			return t, fmt.Errorf("there is no project %q", id)
		}
	}
	return importedToken{i.Line, token, secret}, nil
}

// describes reports whether a stored token has the name, the type, the environment and the projects of t.
func describes(t, stored clienttokentable.Token) bool {
	sorted := func(projects []string) []string { return slices.Sorted(slices.Values(projects)) }
	return t.Name == stored.Name && t.Type == stored.Type && t.Environment == stored.Environment &&
		slices.Equal(sorted(t.Projects), sorted(stored.Projects))
}
