package project

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/favorite"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/ownership"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// Store keeps the projects in the table Access. It is safe for concurrent use.
type Store struct {
	client    *dynamodb.Client
	tables    dynamo.Tables
	access    *accesstable.Reader
	users     *user.Store
	owners    *ownership.Store
	favorites *favorite.Store
	log       *eventlog.Log
}

// NewStore returns a Store that uses the tables Access, Users and Features and, for deletions, Segments and
// ClientTokens. It records its changes in log, which can be nil if the Store only reads.
func NewStore(client *dynamodb.Client, tables dynamo.Tables, log *eventlog.Log) *Store {
	return &Store{
		client:    client,
		tables:    tables,
		access:    accesstable.NewReader(client, tables),
		users:     user.NewStore(client, tables, nil),
		owners:    ownership.NewStore(client, tables),
		favorites: favorite.NewStore(client, tables),
		log:       log,
	}
}

// counts is how many toggles a project has.
type counts struct {
	active, archived        int
	stale, potentiallyStale int            // of the active ones
	types                   map[string]int // of the active ones
	first                   string         // the name of the oldest active one
	used                    bool           // an application has used an active one
}

// count returns the numbers of toggles by project. It reads all toggles, consistently.
func (s *Store) count(ctx context.Context) (map[string]counts, error) {
	all, err := featuretable.Scan(ctx, s.client, s.tables[featuretable.Table], func(featuretable.Row) bool { return true },
		featuretable.AttributeProject, featuretable.AttributeArchived, featuretable.AttributeStale,
		featuretable.AttributePotentiallyStale, featuretable.AttributeType, featuretable.AttributeCreatedAt,
		featuretable.AttributeLastSeen)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b featuretable.Row) int { return a.Toggle.CreatedAt.Compare(b.Toggle.CreatedAt) })
	byProject := map[string]counts{}
	for _, row := range all {
		f, n := row.Toggle, byProject[row.Toggle.Project]
		if f.Archived {
			n.archived++
			byProject[f.Project] = n
			continue
		}
		if n.active == 0 {
			n.first, n.types = f.Name, map[string]int{}
		}
		n.active++
		n.types[f.Type]++
		n.used = n.used || !row.LastSeenAt().IsZero()
		switch {
		case f.Stale:
			n.stale++
		case f.PotentiallyStale:
			n.potentiallyStale++
		}
		byProject[f.Project] = n
	}
	return byProject, nil
}

// contents is what a project has that prevents its deletion.
type contents struct {
	active, archived int // toggles
	segments, tokens int // of the project alone
}

// contentsOf returns what a project has. Its reads are consistent.
func (s *Store) contentsOf(ctx context.Context, id string) (contents, error) {
	counts, err := s.count(ctx)
	if err != nil {
		return contents{}, err
	}
	found := contents{active: counts[id].active, archived: counts[id].archived}
	segments, err := segmenttable.Scan(ctx, s.client, s.tables[segmenttable.Table])
	if err != nil {
		return contents{}, fmt.Errorf("list segments: %w", err)
	}
	for _, segment := range segments {
		if segment.Project != nil && *segment.Project == id {
			found.segments++
		}
	}
	tokens, err := clienttokentable.Scan(ctx, s.client, s.tables[clienttokentable.Table])
	if err != nil {
		return contents{}, fmt.Errorf("list client tokens: %w", err)
	}
	for _, token := range tokens {
		if slices.Equal(token.Projects, []string{id}) {
			found.tokens++
		}
	}
	return found, nil
}
