package user

import (
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Response is userSchema in api/openapi.yaml. Members that an account does not have are left out: clients that Unleash
// generates cannot read null.
type Response struct {
	ID          int64   `json:"id"`
	Name        string  `json:"name"`
	Username    string  `json:"username,omitempty"`
	Email       string  `json:"email,omitempty"`
	RootRole    int64   `json:"rootRole"`
	AccountType string  `json:"accountType"`
	CreatedAt   *string `json:"createdAt,omitempty"`
}

// NewResponse returns how responses show an account.
func NewResponse(u User) Response {
	return Response{
		ID:          u.ID,
		Name:        u.Name,
		Username:    u.Username,
		Email:       u.Email,
		RootRole:    int64(u.Role),
		AccountType: u.accountType(),
		CreatedAt:   datetime.FormatOptional(u.CreatedAt),
	}
}

const typeServiceAccount = "Service Account"

// accountType returns the kind of an account, as responses name it.
func (u User) accountType() string {
	if u.Kind == ServiceAccount {
		return typeServiceAccount
	}
	return "User"
}

// Kind returns the kind of the account that the response shows.
func (r Response) Kind() Kind {
	if r.AccountType == typeServiceAccount {
		return ServiceAccount
	}
	return Person
}

// ETag returns the entity tag of a person. It changes with everything that the operations on people can change.
func (u User) ETag() string { return lambdahttp.ETag(u.eventData()) }
