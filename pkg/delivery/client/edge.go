package client

import (
	"net/http"
	"slices"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/lambdahttp"
)

// validatePath is where Unleash Edge validates the tokens of its clients. It needs no credential.
const validatePath = "/edge/validate"

// validateSchema is the JSON Schema of a body with tokens. They are read together: the limit is that of a BatchGetItem.
const validateSchema = `{"type": "object", "required": ["tokens"], "properties": {
	"tokens": {"type": "array", "maxItems": 100, "items": {"type": "string"}}
}}`

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
	sent, err := h.tokens.Decode(text)
	if err != nil {
		return err
	}
	var texts []string
	var secrets []clienttokentable.Secret
	for _, text := range sent.Texts("tokens") {
		if secret, ok := clienttokentable.ParseCredential(text); ok && !slices.Contains(texts, text) {
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
