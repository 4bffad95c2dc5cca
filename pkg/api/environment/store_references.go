package environment

import (
	"context"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/delivery/clienttokentable"
)

// CountReferences counts the toggles that are on, without archived ones, the client tokens, and the custom roles with
// permissions in the environment, by environment. Check compares it with what is stored. It reads all toggles, tokens
// and roles.
func (s *Store) CountReferences(ctx context.Context) (map[string]references.Counts, error) {
	rows, err := featuretable.Scan(ctx, s.client, s.features,
		func(row featuretable.Row) bool { return !row.Toggle.Archived && len(row.EnabledIn) > 0 },
		featuretable.AttributeProject, featuretable.AttributeArchived, featuretable.AttributeEnvironments)
	if err != nil {
		return nil, err
	}
	counted := map[string]references.Counts{}
	for _, row := range rows {
		for _, name := range row.EnabledIn {
			if counted[name].ByProject == nil {
				counted[name] = references.Counts{ByProject: references.ByProject{}}
			}
			counted[name].ByProject[row.Toggle.Project]++
		}
	}
	tokens, err := clienttokentable.Scan(ctx, s.client, s.tokens)
	if err != nil {
		return nil, err
	}
	for _, t := range tokens {
		u := counted[t.Environment]
		u.Tokens++
		counted[t.Environment] = u
	}
	roles, err := s.access.Roles(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range roles {
		for _, name := range r.Environments() {
			u := counted[name]
			u.Roles++
			counted[name] = u
		}
	}
	return counted, nil
}

// countTokens counts the selected client tokens by environment. It reads all tokens.
func (s *Store) countTokens(
	ctx context.Context, selects func(clienttokentable.Token) bool,
) (map[string]int64, error) {
	tokens, err := clienttokentable.Scan(ctx, s.client, s.tokens)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, t := range tokens {
		if selects(t) {
			counts[t.Environment]++
		}
	}
	return counts, nil
}
