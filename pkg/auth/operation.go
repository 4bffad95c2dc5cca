package auth

import (
	"fmt"
	"net/http"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/lambdahttp"
)

// Operation is an operation of the API.
type Operation string

// The operations, in the order of contract section 4.
const (
	UpdateFeedback            Operation = "update-feedback"
	ListFeatureTypes          Operation = "list-feature-types"
	UpdateFeatureTypeLifetime Operation = "update-feature-type-lifetime"
	ListContextFields         Operation = "list-context-fields"
	CreateServiceAccountToken Operation = "create-service-account-token"
	GetTrafficUsage           Operation = "get-traffic-usage"
	DeleteOwnToken            Operation = "delete-own-token"
	ListServiceAccounts       Operation = "list-service-accounts"
	CreateServiceAccount      Operation = "create-service-account"
	UpdateServiceAccount      Operation = "update-service-account"
	DeleteServiceAccount      Operation = "delete-service-account"
	ListServiceAccountTokens  Operation = "list-service-account-tokens"
	GetServiceAccountToken    Operation = "get-service-account-token"
	DeleteServiceAccountToken Operation = "delete-service-account-token"
	ListOwnTokens             Operation = "list-own-tokens"
	CreateOwnToken            Operation = "create-own-token"
	GetContextField           Operation = "get-context-field"
	CreateContextField        Operation = "create-context-field"
	UpdateContextField        Operation = "update-context-field"
	DeleteContextField        Operation = "delete-context-field"
)

// Texts for a valid credential that identifies no user.
const (
	textNoUserForFeedback = "This operation requires a token that identifies a user."
	textNoUser            = "You need a token that identifies a user to perform this operation."
)

// need returns nil if a principal may perform an operation, otherwise the error for the client. It is the permission table of contract
// section 3.
func need(operation Operation, p Principal) *apierror.Error {
	switch operation {
	case ListFeatureTypes, ListContextFields, GetContextField:
		return nil
	case UpdateFeatureTypeLifetime, CreateServiceAccountToken, GetTrafficUsage,
		ListServiceAccounts, CreateServiceAccount, UpdateServiceAccount, DeleteServiceAccount,
		ListServiceAccountTokens, GetServiceAccountToken, DeleteServiceAccountToken:
		return needPermission(Admin, p)
	case CreateContextField:
		return needPermission(CreateFieldPermission, p)
	case UpdateContextField:
		return needPermission(UpdateFieldPermission, p)
	case DeleteContextField:
		return needPermission(DeleteFieldPermission, p)
	case UpdateFeedback:
		if p.UserID == 0 { // the specification declares no 403 for this operation
			return apierror.New(apierror.AuthenticationRequired, textNoUserForFeedback)
		}
		return nil
	case DeleteOwnToken, ListOwnTokens, CreateOwnToken:
		if p.UserID == 0 {
			return apierror.New(apierror.NoAccess, textNoUser)
		}
		return nil
	}
	return apierror.From(fmt.Errorf("no rule for operation %q", operation))
}

func needPermission(permission Permission, p Principal) *apierror.Error {
	if p.Has(permission) {
		return nil
	}
	return apierror.New(apierror.NoAccess, fmt.Sprintf("You need the %q permission to perform this operation.", permission))
}

// Require calls next if the principal of the request may perform the operation. A request without an authorizer's context has no valid
// credential.
func Require(operation Operation, next lambdahttp.HandlerFunc) lambdahttp.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, ok := parsePrincipal(lambdahttp.GatewayFrom(r.Context()).Authorizer)
		if !ok {
			return apierror.New(apierror.AuthenticationRequired, apierror.TextAuthenticationRequired)
		}
		if lacks := need(operation, p); lacks != nil {
			return lacks
		}
		return next(w, r.WithContext(WithPrincipal(r.Context(), p)))
	}
}
