package client

import (
	"encoding/json"
	"net/http"
	"slices"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// validatePath is where Unleash Edge validates the tokens of its clients. It needs no credential.
const validatePath = "/edge/validate"

// maxValidated limits the tokens of one request, which are read together: it is the maximum of a BatchGetItem.
const maxValidated = 100

// edgeToken is a valid token, in the form of Unleash Edge.
type edgeToken struct {
	Token       string   `json:"token"`
	Type        string   `json:"type"`
	Projects    []string `json:"projects"`
	Environment string   `json:"environment"`
}

// validateTokens serves POST /edge/validate, which returns the valid ones of some tokens, each once. It is a 503 if one
// cannot be read: Edge discards tokens that are not in the response.
func (h *Handler) validateTokens(w http.ResponseWriter, r *http.Request) error {
	text, err := readAll(r, maxContext)
	if err != nil {
		return err
	}
	var sent struct {
		Tokens []string `json:"tokens"`
	}
	if err := json.Unmarshal(text, &sent); err != nil || sent.Tokens == nil {
		return apierror.New(apierror.Validation, "The `/body/tokens` property must be a list of client tokens.")
	}
	if len(sent.Tokens) > maxValidated {
		return apierror.Errorf(apierror.Validation, "The `/body/tokens` property must have at most %d entries.", maxValidated)
	}
	var texts []string
	var secrets []clienttokentable.Secret
	for _, text := range sent.Tokens {
		if secret, ok := clienttokentable.ParseSecret(text); ok && !slices.Contains(texts, text) {
			texts, secrets = append(texts, text), append(secrets, secret)
		}
	}
	now := h.now()
	stored, err := h.cache.store.tokens(r.Context(), secrets)
	if err != nil {
		return err
	}
	valid := []edgeToken{}
	for i, secret := range secrets {
		if token := stored[secret.Selector]; token.Verifies(secret) && !token.Expired(now) {
			valid = append(valid, newEdgeToken(texts[i], token))
			defer h.seen.StartUpdate(r.Context(), token).Wait()
		}
	}
	return lambdahttp.WriteJSON(w, http.StatusOK, struct {
		Tokens []edgeToken `json:"tokens"`
	}{valid})
}

func newEdgeToken(text string, t clienttokentable.Token) edgeToken {
	return edgeToken{Token: text, Type: t.ListedType(), Projects: t.ListedProjects(), Environment: t.Environment}
}
