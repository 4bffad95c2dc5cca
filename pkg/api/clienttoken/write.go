package clienttoken

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

//go:embed create_project.schema.json
var createInProjectSchema []byte

//go:embed update.schema.json
var updateSchema []byte

//go:embed rotate.schema.json
var rotateSchema []byte

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
			expiryRule(created, limits.Days), checkSecret)
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
		t := newToken(body, name, projects, created)
		if body.Has("secret") {
			err = importToken(w, r, tokens, t, body, limits)
		} else {
			err = create(w, r, tokens, t, body.Text("type"), limits, random)
		}
		if missing, ok := errors.AsType[*missingProjectError](err); ok {
			return missingProject(missing.project, body)
		}
		return err
	}
}

// CreateInProject serves POST /api/admin/projects/{projectId}/api-tokens.
func CreateInProject(tokens *Store, now func() time.Time, random io.Reader, limits Limits) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(createInProjectSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		created := datetime.Milliseconds(now())
		project := r.PathValue("projectId")
		body, err := schema.Read(r, expiryRule(created, limits.Days), noSecret, jsonbody.AsInPath("project", project),
			onlyProject(project))
		if err != nil {
			return err
		}
		t := newToken(body, body.Text("tokenName"), []string{project}, created)
		return create(w, r, tokens, t, body.Text("type"), limits, random)
	}
}

// newToken returns the token that a body describes, which meets its schema.
func newToken(body jsonbody.Object, name string, projects []string, created time.Time) clienttokentable.Token {
	environment, sent := body.TextOK("environment")
	if !sent {
		environment = DefaultEnvironment
	}
	return clienttokentable.Token{
		Name:        name,
		Type:        typeOf(body.Text("type")),
		Projects:    projects,
		Environment: environment,
		ExpiresAt:   body.Time("expiresAt"),
		CreatedAt:   created,
	}
}

// create creates a token and responds with it. sentType is the name of its type in the request.
func create(
	w http.ResponseWriter, r *http.Request, tokens *Store, t clienttokentable.Token, sentType string, limits Limits,
	random io.Reader,
) error {
	created, secret, err := tokens.Create(r.Context(), t, limits.Tokens, random)
	if err != nil {
		return err
	}
	return writeCreated(w, created, secret.Reveal(), sentType, r.URL)
}

// checkSecret is the rule of an imported secret.
func checkSecret(body jsonbody.Object) []apierror.Detail {
	text, sent := body.TextOK("secret")
	if _, ok := clienttokentable.ParseImported(text); !sent || ok {
		return nil
	}
	return []apierror.Detail{apierror.At("/body/secret", "%s", clienttokentable.ImportedMust())}
}

// noSecret is the rule that a token of a project gets a secret of this service.
func noSecret(body jsonbody.Object) []apierror.Detail {
	if !body.Has("secret") {
		return nil
	}
	return []apierror.Detail{apierror.At("/body/secret", "must not be sent: /api/admin/api-tokens imports secrets")}
}

// onlyProject returns the rule that a token of a project is not asked for with other projects.
func onlyProject(id string) jsonbody.Rule {
	return func(body jsonbody.Object) []apierror.Detail {
		for _, sent := range body.Texts("projects") {
			if sent != id {
				return []apierror.Detail{apierror.At("/body/projects", "must contain only %q, as in the path", id).Sent(sent)}
			}
		}
		return nil
	}
}

// importToken creates a token with the secret of a body, which another installation has made, and responds with it.
func importToken(
	w http.ResponseWriter, r *http.Request, tokens *Store, t clienttokentable.Token, body jsonbody.Object, limits Limits,
) error {
	if err := access.Check(r.Context(), access.Admin); err != nil {
		return err
	}
	secret, _ := clienttokentable.ParseImported(body.Text("secret"))
	created, err := tokens.Import(r.Context(), t, secret, limits.Tokens)
	if err != nil {
		return err
	}
	return writeCreated(w, created, created.Listed(), body.Text("type"), r.URL)
}

// writeCreated responds with a new token or secret. list is the URL of the list of tokens.
func writeCreated(
	w http.ResponseWriter, t clienttokentable.Token, secret, typeName string, list *url.URL,
) error {
	w.Header().Set("Location", list.JoinPath(t.ID()).String())
	shown := newResponse(t, t.ListedProjects())
	shown.Secret, shown.Type = secret, typeName
	return lambdahttp.WriteJSON(w, http.StatusCreated, shown)
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
	return missingProject(id, body)
}

// missingProject returns the 400 if a project of a body does not exist.
func missingProject(id string, body jsonbody.Object) error {
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
		if err := checkVisible(r, tokens, text); err != nil {
			return err
		}
		if err := checkPreconditions(r, tokens, text); err != nil {
			return err
		}
		return tokens.Update(r.Context(), text, body.Time("expiresAt"), now()) // nil: 200 without a body
	}
}

// Delete serves DELETE /api/admin/api-tokens/{token}.
func Delete(tokens *Store) lambdahttp.HandlerFunc { return remove(tokens, checkVisible) }

// DeleteInProject serves DELETE /api/admin/projects/{projectId}/api-tokens/{token}.
func DeleteInProject(tokens *Store) lambdahttp.HandlerFunc { return remove(tokens, checkOwn) }

func remove(tokens *Store, check checkToken) lambdahttp.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) error {
		text, err := lambdahttp.PathParam(r, "token")
		if err != nil {
			return notFound()
		}
		if err := check(r, tokens, text); err != nil {
			return err
		}
		if err := checkPreconditions(r, tokens, text); err != nil {
			return err
		}
		return tokens.Delete(r.Context(), text) // nil: 200 without a body
	}
}

// Rotate serves POST /api/admin/api-tokens/{token}/rotate.
func Rotate(tokens *Store, now func() time.Time, random io.Reader, limit int) lambdahttp.HandlerFunc {
	return rotate(tokens, now, random, limit, checkSeesAll)
}

// RotateInProject serves POST /api/admin/projects/{projectId}/api-tokens/{token}/rotate.
func RotateInProject(tokens *Store, now func() time.Time, random io.Reader, limit int) lambdahttp.HandlerFunc {
	return rotate(tokens, now, random, limit, checkOwn)
}

func rotate(
	tokens *Store, now func() time.Time, random io.Reader, limit int, check checkToken,
) lambdahttp.HandlerFunc {
	schema := jsonbody.MustCompile(rotateSchema)
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := schema.Read(r)
		if err != nil {
			return err
		}
		hours, sent := body.Int("overlapHours")
		if !sent {
			hours = DefaultOverlapHours
		}
		text, err := lambdahttp.PathParam(r, "token")
		if err != nil {
			return notFound()
		}
		if err := check(r, tokens, text); err != nil {
			return err
		}
		t, secret, err := tokens.Rotate(r.Context(), text, now(), time.Duration(hours)*time.Hour, limit, random)
		if err != nil {
			return err
		}
		return writeCreated(w, t, secret.Reveal(), t.ListedType(), r.URL.JoinPath("../.."))
	}
}

// checkToken returns an error if the caller may not change the token that a text identifies.
type checkToken func(r *http.Request, tokens *Store, text string) error

// checkOwn returns a 404 if a token is not one of the project of the path, and a 400 if it is one of others, too.
func checkOwn(r *http.Request, tokens *Store, text string) error {
	t, err := tokens.Find(r.Context(), text)
	if err != nil {
		return err
	}
	project := r.PathValue("projectId")
	switch {
	case !slices.Contains(t.Projects, project):
		return notFound()
	case len(t.Projects) > 1:
		return apierror.Errorf(apierror.Validation, "The client token %s is not of the project %q alone. Use "+
			"/api/admin/api-tokens, which needs a permission for all projects.", t.ID(), project)
	}
	return nil
}

// checkVisible returns a 404 if a token belongs to projects alone that the caller does not see.
func checkVisible(r *http.Request, tokens *Store, text string) error {
	if access.PrincipalFrom(r.Context()).Has(access.Admin) {
		return nil
	}
	_, _, err := findVisible(r, tokens, text)
	return err
}

// checkSeesAll is checkVisible for a caller who gets a secret of the token. It returns a 403 if the caller does not see
// one of its projects.
func checkSeesAll(r *http.Request, tokens *Store, text string) error {
	if access.PrincipalFrom(r.Context()).Has(access.Admin) {
		return nil
	}
	t, shown, err := findVisible(r, tokens, text)
	if err == nil && len(shown) < len(t.ListedProjects()) {
		return apierror.New(apierror.NoAccess, "You need access to every project of the client token to rotate it.")
	}
	return err
}

// findVisible returns a token, and the projects of it that the caller sees, in the form of the API.
func findVisible(r *http.Request, tokens *Store, text string) (
	t clienttokentable.Token, shown []string, err error,
) {
	if t, err = tokens.Find(r.Context(), text); err != nil {
		return t, nil, err
	}
	if shown, err = shownProjects(r.Context(), t); err == nil && len(shown) == 0 {
		err = notFound()
	}
	return t, shown, err
}

// shownProjects returns the projects of a token that the caller sees, as visibleProjects. It reads no other project.
func shownProjects(ctx context.Context, t clienttokentable.Token) ([]string, error) {
	visible := map[string]bool{}
	for _, project := range t.Projects {
		_, err := access.VisibleProject(ctx, project)
		if err != nil && apierror.KindOf(err) != apierror.NotFound {
			return nil, err
		}
		visible[project] = err == nil
	}
	return visibleProjects(t, func(project string) bool { return visible[project] }), nil
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
