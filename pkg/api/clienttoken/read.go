package clienttoken

import (
	"net/http"
	"slices"
	"strings"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// response is apiTokenSchema in api/openapi.yaml.
type response struct {
	ID          string   `json:"id"` // in paths
	Secret      string   `json:"secret"`
	TokenName   string   `json:"tokenName"`
	Type        string   `json:"type"`
	Project     string   `json:"project"`
	Projects    []string `json:"projects"`
	Environment string   `json:"environment"`
	ExpiresAt   *string  `json:"expiresAt"`
	CreatedAt   string   `json:"createdAt"`
	Alias       *string  `json:"alias"` // null
	SeenAt      *string  `json:"seenAt"`
	Secure      bool     `json:"secure"`     // true
	ValidUntil  *string  `json:"validUntil"` // of a secret that another one replaces
	Imported    bool     `json:"imported"`
}

// newResponse returns a token as lists have it: without the random part of its secret, and with some of its projects.
func newResponse(t clienttokentable.Token, projects []string) response {
	return response{
		ID:          t.ID(),
		Secret:      t.Listed(),
		TokenName:   t.Name,
		Type:        t.ListedType(),
		Project:     strings.Join(projects, ","),
		Projects:    projects,
		Environment: t.Environment,
		ExpiresAt:   datetime.FormatOptional(t.ExpiresAt),
		CreatedAt:   datetime.Format(t.CreatedAt),
		SeenAt:      datetime.FormatOptional(t.SeenAt),
		Secure:      true,
		ValidUntil:  datetime.FormatOptional(t.ValidUntil),
		Imported:    t.Imported,
	}
}

// responses is apiTokensSchema in api/openapi.yaml.
type responses struct {
	Tokens []response `json:"tokens"`
}

// newResponses returns the tokens of projects that are visible, without their other projects.
func newResponses(all []clienttokentable.Token, visible func(project string) bool) responses {
	list := responses{[]response{}}
	for _, t := range all {
		if projects := visibleProjects(t, visible); len(projects) > 0 {
			list.Tokens = append(list.Tokens, newResponse(t, projects))
		}
	}
	return list
}

// visibleProjects returns the projects of a token that are visible, in the form of the API. It is empty if the token is
// not visible either. A token for all projects is visible.
func visibleProjects(t clienttokentable.Token, visible func(project string) bool) []string {
	return slices.DeleteFunc(slices.Clone(t.ListedProjects()), func(project string) bool {
		return project != clienttokentable.AllProjects && !visible(project)
	})
}

// List serves GET /api/admin/api-tokens.
func List(tokens *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		all, err := tokens.List(r.Context())
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, newResponses(all, visible))
	}
}

// ListOfProject serves GET /api/admin/projects/{projectId}/api-tokens. Tokens of all projects are not in the list.
func ListOfProject(tokens *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		visible, err := access.Visibility(r.Context())
		if err != nil {
			return err
		}
		all, err := tokens.List(r.Context())
		if err != nil {
			return err
		}
		project := r.PathValue("projectId")
		all = slices.DeleteFunc(all, func(t clienttokentable.Token) bool { return !slices.Contains(t.Projects, project) })
		return lambdahttp.WriteJSON(w, http.StatusOK, newResponses(all, visible))
	}
}
