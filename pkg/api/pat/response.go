package pat

import (
	"net/http"

	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Response is patSchema in api/openapi.yaml: a token without its secret.
type Response struct {
	ID          int64   `json:"id"`
	CreatedAt   string  `json:"createdAt"`
	SeenAt      *string `json:"seenAt"` // null: never used
	UserID      int64   `json:"userId"`
	Description string  `json:"description"`
	ExpiresAt   string  `json:"expiresAt"`
}

// NewResponse returns the response for a token.
func NewResponse(p PAT) Response {
	return Response{
		ID: p.ID, CreatedAt: datetime.Format(p.CreatedAt), SeenAt: datetime.FormatOptional(p.SeenAt), UserID: p.UserID,
		Description: p.Description, ExpiresAt: datetime.Format(p.ExpiresAt),
	}
}

// NewResponses returns the responses for tokens, which is not nil.
func NewResponses(pats []PAT) []Response {
	all := make([]Response, len(pats))
	for i, p := range pats {
		all[i] = NewResponse(p)
	}
	return all
}

// writeList writes patsSchema in api/openapi.yaml.
func writeList(w http.ResponseWriter, pats []PAT) error {
	return lambdahttp.WriteJSON(w, http.StatusOK, struct {
		PATs []Response `json:"pats"`
	}{NewResponses(pats)})
}
