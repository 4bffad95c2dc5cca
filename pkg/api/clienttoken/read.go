package clienttoken

import (
	"net/http"
	"strings"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// response is apiTokenSchema in api/openapi.yaml.
type response struct {
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
	Secure      bool     `json:"secure"` // true
}

// newResponse returns a token as lists have it: without the random part of its secret.
func newResponse(t clienttokentable.Token) response {
	return response{
		Secret:      t.Listed(),
		TokenName:   t.Name,
		Type:        t.ListedType(),
		Project:     strings.Join(t.ListedProjects(), ","),
		Projects:    t.ListedProjects(),
		Environment: t.Environment,
		ExpiresAt:   datetime.FormatOptional(t.ExpiresAt),
		CreatedAt:   datetime.Format(t.CreatedAt),
		SeenAt:      datetime.FormatOptional(t.SeenAt),
		Secure:      true,
	}
}

// responses is apiTokensSchema in api/openapi.yaml.
type responses struct {
	Tokens []response `json:"tokens"`
}

func newResponses(all []clienttokentable.Token) responses {
	list := responses{make([]response, len(all))}
	for i, t := range all {
		list.Tokens[i] = newResponse(t)
	}
	return list
}

// List serves GET /api/admin/api-tokens.
func List(tokens *Store) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := tokens.List(r.Context())
		if err != nil {
			return err
		}
		return lambdahttp.WriteJSON(w, http.StatusOK, newResponses(all))
	}
}
