package clienttoken

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

//go:embed create.schema.json
var createSchema []byte

//go:embed update.schema.json
var updateSchema []byte

// Limits are the limits of new tokens.
type Limits struct {
	Tokens int // the maximum number of tokens, including expired ones
	Days   int // from the creation or change of a token to its expiry; 0: no limit
}

// Create serves POST /api/admin/api-tokens.
func Create(tokens *Store, now func() time.Time, random io.Reader, limits Limits) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		created := datetime.Milliseconds(now())
		body, err := schema.Read(r, notTogether("tokenName", "username"), notTogether("project", "projects"),
			expiryRule(created, limits.Days))
		if err != nil {
			return err
		}
		name := cmp.Or(body.Text("tokenName"), body.Text("username"))
		if name == "" { // not a rule, which does not see a name that is invalid
			return apierror.Invalid(apierror.Missing("/body/tokenName"))
		}
		projects := scopeOf(body)
		for _, project := range projects {
			if err := checkProject(r.Context(), project, body); err != nil {
				return err
			}
		}
		environment, sent := body.TextOK("environment")
		if !sent {
			environment = DefaultEnvironment
		}
		t, secret, err := tokens.Create(r.Context(), clienttokentable.Token{
			Name:        name,
			Type:        typeOf(body.Text("type")),
			Projects:    projects,
			Environment: environment,
			ExpiresAt:   body.Time("expiresAt"),
			CreatedAt:   created,
		}, limits.Tokens, random)
		if err != nil {
			return err
		}
		w.Header().Set("Location", r.URL.JoinPath(t.Listed()).String())
		shown := newResponse(t, t.ListedProjects())
		shown.Secret, shown.Type = secret.Reveal(), body.Text("type")
		return lambdahttp.WriteJSON(w, http.StatusCreated, shown)
	}
}

// notTogether returns the rule that only one of two properties is sent.
func notTogether(a, b string) jsonbody.Rule {
	return func(body jsonbody.Object) []apierror.Detail {
		if !body.Has(a) || !body.Has(b) {
			return nil
		}
		return []apierror.Detail{apierror.At("/body/"+b, "must not be sent together with `/body/%s`", a)}
	}
}

// expiryRule returns the rule that a token expires in the future, and not too late.
func expiryRule(now time.Time, days int) jsonbody.Rule {
	return func(body jsonbody.Object) []apierror.Detail {
		must := access.CheckExpiry(body.Time("expiresAt"), now, days)
		if must == "" {
			return nil
		}
		invalid := apierror.At("/body/expiresAt", "must be %s", must)
		if text, ok := body.TextOK("expiresAt"); ok {
			invalid = invalid.Sent(text)
		} else if body.Has("expiresAt") {
			invalid = invalid.SentJSON("null")
		} else {
			invalid = invalid.NotSent()
		}
		return []apierror.Detail{invalid}
	}
}

// typeOf returns the type with a name of the API.
func typeOf(name string) clienttokentable.Type {
	if name == clienttokentable.OldBackend {
		return clienttokentable.Backend
	}
	return clienttokentable.Type(name)
}

// scopeOf returns the projects of a new token, each once; none: all projects.
func scopeOf(body jsonbody.Object) []string {
	sent := body.Texts("projects")
	if project, ok := body.TextOK("project"); ok {
		sent = []string{project}
	}
	if slices.Contains(sent, clienttokentable.AllProjects) {
		return nil
	}
	var projects []string
	for _, project := range sent {
		if !slices.Contains(projects, project) {
			projects = append(projects, project)
		}
	}
	return projects
}

// checkProject returns a 400 if a project of a body does not exist, or the caller does not see it.
func checkProject(ctx context.Context, id string, body jsonbody.Object) error {
	_, err := access.VisibleProject(ctx, id)
	if apierror.KindOf(err) != apierror.NotFound {
		return err
	}
	path := "/body/project"
	if !body.Has("project") {
		path = fmt.Sprintf("/body/projects/%d", slices.Index(body.Texts("projects"), id))
	}
	return apierror.Invalid(apierror.At(path, "must be * or the id of a project").Sent(id))
}

// Update serves PUT /api/admin/api-tokens/{token}.
func Update(tokens *Store, now func() time.Time, days int) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(updateSchema)
	return func(_ http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r, func(body jsonbody.Object) []apierror.Detail {
			if !body.Has("expiresAt") { // the schema requires it
				return nil
			}
			return expiryRule(now(), days)(body)
		})
		if err != nil {
			return err
		}
		text, err := lambdahttp.PathParam(r, "token")
		if err != nil {
			return notFound()
		}
		if err := checkVisible(r.Context(), tokens, text); err != nil {
			return err
		}
		if err := checkPreconditions(r, tokens, text); err != nil {
			return err
		}
		return tokens.Update(r.Context(), text, body.Time("expiresAt"), now()) // nil: 200 without a body
	}
}

// Delete serves DELETE /api/admin/api-tokens/{token}.
func Delete(tokens *Store) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		text, err := lambdahttp.PathParam(r, "token")
		if err != nil {
			return notFound()
		}
		if err := checkVisible(r.Context(), tokens, text); err != nil {
			return err
		}
		if err := checkPreconditions(r, tokens, text); err != nil {
			return err
		}
		return tokens.Delete(r.Context(), text) // nil: 200 without a body
	}
}

// checkVisible returns a 404 if a token belongs to projects alone that the caller does not see.
func checkVisible(ctx context.Context, tokens *Store, text string) error {
	if access.PrincipalFrom(ctx).Has(access.Admin) {
		return nil
	}
	t, err := tokens.Find(ctx, text)
	if err != nil || len(t.Projects) == 0 {
		return err
	}
	for _, project := range t.Projects {
		if _, err := access.VisibleProject(ctx, project); apierror.KindOf(err) != apierror.NotFound {
			return err
		}
	}
	return notFound()
}

// checkPreconditions returns a 412 if the preconditions of a request do not allow to change a token, which has no ETag.
func checkPreconditions(r *http.Request, tokens *Store, text string) error {
	preconditions, err := lambdahttp.PreconditionsOf(r)
	if err != nil {
		return err
	}
	failed := preconditions.Check(lambdahttp.NoETag)
	if failed == nil {
		return nil
	}
	_, err = tokens.Find(r.Context(), text)
	return cmp.Or(err, failed)
}
