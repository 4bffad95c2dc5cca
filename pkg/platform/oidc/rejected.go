package oidc

// Reason is why a token was rejected.
type Reason string

// The reasons.
const (
	NotConfigured Reason = "no issuer is configured"
	TooLong       Reason = "length"
	Malformed     Reason = "malformed"
	Algorithm     Reason = "algorithm"
	Critical      Reason = "critical header"
	Type          Reason = "type"
	WrongIssuer   Reason = "issuer"
	Audience      Reason = "audience"
	Expired       Reason = "expired"
	NotYetValid   Reason = "not yet valid"
	Lifetime      Reason = "lifetime"
	Subject       Reason = "subject"
	UnknownKey    Reason = "unknown key"
	Unreachable   Reason = "issuer unreachable"
	Signature     Reason = "signature"
)

// RejectedError is the error of a token that is not accepted. It contains no text of the token.
type RejectedError struct{ Reason Reason }

func (r *RejectedError) Error() string { return "the token is rejected: " + string(r.Reason) }
