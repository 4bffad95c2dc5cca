// Package trust manages the trusts of service accounts: they let the jobs of a pipeline use an account with the ID tokens
// that the pipeline's issuer signs for them, without a stored secret.
//
// A trust names an issuer, an audience and claims. A token identifies the account if the issuer has signed it for the
// audience, and it has each claim with exactly the value. The table Access contains the trusts.
package trust

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
)

// The maximum numbers of trusts.
const (
	MaxPerAccount   = 10
	maxInstallation = 500
)

// Trust is a trust as it is stored.
type Trust struct {
	ID          int64 // never used again
	AccountID   int64
	Description string
	Issuer      string
	Audience    string
	Claims      map[string]string
	AnyRef      bool // the claims do not say from which branch, environment or workflow
	CreatedAt   time.Time
	LastEvent   int64 // the id of its last event
}

// Identities returns the claims that issuers of pipelines give to what is never renamed or used again. The names of
// repositories and projects are none.
func Identities() []string {
	return []string{"repository_id", "project_id", "namespace_id", "terraform_workspace_id"}
}

// pins returns the claims that say which revision, environment or workflow of a repository a job runs for.
func pins() []string { return []string{"ref", "environment", "job_workflow_ref", "ref_protected"} }

// Token is an ID token, such as an oidc.Token.
type Token interface {
	Has(claim string) bool
	Text(claim string) string // the value of a claim that is a string, or ""
	Audiences() []string
}

// IsPipeline reports whether a token is one of a pipeline: it has an identity that people do not have.
func IsPipeline(t Token) bool { return slices.ContainsFunc(Identities(), t.Has) }

// Matches reports whether a token has the audience and the claims of the trust. It does not verify the token.
func (t Trust) Matches(token Token) bool {
	if !slices.Contains(token.Audiences(), t.Audience) {
		return false
	}
	for name, value := range t.Claims {
		if token.Text(name) != value { // a number, a list or a missing claim is the empty text, which no trust has
			return false
		}
	}
	return true
}

// same reports whether two trusts accept the same tokens.
func (t Trust) same(other Trust) bool {
	return t.Issuer == other.Issuer && t.Audience == other.Audience && maps.Equal(t.Claims, other.Claims)
}

// hasNames reports whether the subject of the tokens of an issuer consists of names, as those of GitHub, GitLab and HCP
// Terraform do. After a rename, somebody else can take a name, and customers can shorten a subject of GitHub.
func hasNames(issuer, subject string) bool {
	issuers := []string{"https://token.actions.githubusercontent.com", "https://gitlab.com", "https://app.terraform.io"}
	return slices.Contains(issuers, strings.TrimSuffix(issuer, "/")) ||
		slices.ContainsFunc([]string{"repo:", "project_path:", "organization:"}, func(begin string) bool {
			return strings.HasPrefix(subject, begin) // of an instance of their own
		})
}

// check returns why the claims are too weak to identify a pipeline. identifiesPeople is whether people sign in at the
// issuer.
func (t Trust) check(identifiesPeople bool) (details []apierror.Detail) {
	has := func(claim string) bool { return t.Claims[claim] != "" }
	if !slices.ContainsFunc(Identities(), has) {
		identities := "`" + strings.Join(Identities(), "`, `") + "`"
		switch subject := t.Claims["sub"]; {
		case identifiesPeople:
			details = append(details, apierror.At("/body/claims",
				"must contain one of %s, because people sign in at the issuer", identities))
		case subject != "" && hasNames(t.Issuer, subject):
			details = append(details, apierror.At("/body/claims",
				"must contain one of %s: the names in `sub` can become those of somebody else", identities))
		case subject == "":
			details = append(details, apierror.At("/body/claims", "must contain one of %s or `sub`", identities))
		}
	}
	inRepository := has("repository_id") || has("project_id") || has("namespace_id")
	isPin := func(claim string) bool { return has(claim) && (claim != "ref_protected" || t.Claims[claim] == "true") }
	if inRepository && !t.AnyRef && !slices.ContainsFunc(pins(), isPin) {
		details = append(details, apierror.At("/body/claims",
			"must contain one of `%s`, unless `anyRef` is true: otherwise each branch and pull request is trusted",
			strings.Join(pins(), "`, `")))
	}
	return details
}

// TokenID returns how events name a token that a trust has accepted: the trust, and the beginning of the subject.
func (t Trust) TokenID(subject string) string {
	text := []rune(access.TrustPrefix + strconv.FormatInt(t.ID, 10) + " " + subject)
	return string(text[:min(len(text), maxTokenID)])
}

// maxTokenID is the maximum number of characters of the result of TokenID.
const maxTokenID = 255

// Response is serviceAccountTrustSchema in api/openapi.yaml.
type Response struct {
	ID          int64             `json:"id"`
	UserID      int64             `json:"userId"`
	Description string            `json:"description"`
	Issuer      string            `json:"issuer"`
	Audience    string            `json:"audience"`
	Claims      map[string]string `json:"claims"`
	AnyRef      bool              `json:"anyRef"`
	CreatedAt   string            `json:"createdAt"`
}

func newResponse(t Trust) Response {
	return Response{
		ID: t.ID, UserID: t.AccountID, Description: t.Description, Issuer: t.Issuer, Audience: t.Audience, Claims: t.Claims,
		AnyRef: t.AnyRef, CreatedAt: datetime.Format(t.CreatedAt),
	}
}

// Subject returns the subject of the events about the trust.
func (t Trust) Subject() eventlog.Subject {
	return eventlog.Subject("trust:" + strconv.FormatInt(t.ID, 10))
}

// eventData is a trust in the data of events.
type eventData struct {
	ID string `json:"id"`
	Response
}

func (t Trust) eventData() eventData {
	return eventData{strconv.FormatInt(t.ID, 10), newResponse(t)}
}
