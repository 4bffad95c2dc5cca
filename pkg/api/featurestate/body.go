package featurestate

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuredependency"
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/api/featuretag"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

//go:embed set.schema.json
var setSchema []byte

// Schema returns the JSON Schema of the body of Set. Its dependency and its strategies have the schemas of
// featuredependency.AddSchema and featurestrategy.CreateSchema.
func Schema() []byte { return slices.Clone(setSchema) }

// body is the body of a request.
type body struct {
	jsonbody.Object
	tags         []toggle.Tag    // if the body has the property
	dependency   jsonbody.Object // nil: none
	environments map[string]state
}

// state is the state of a toggle in an environment.
type state struct {
	enabled    bool
	strategies []jsonbody.Object
}

// reader reads bodies.
type reader struct{ set, dependency, strategy *jsonbody.Schema }

func newReader() reader {
	return reader{jsonbody.MustCompile(setSchema), featuredependency.AddSchema(), featurestrategy.CreateSchema()}
}

// read returns the body of a request.
func (b reader) read(r *http.Request) (body, error) {
	sent, err := b.set.Read(r, rules()...)
	if err != nil {
		return body{}, err
	}
	return b.parts(sent)
}

// rules returns the rules that the schema of the body cannot express.
func rules() []jsonbody.Rule {
	return []jsonbody.Rule{hasSource, noStateIfArchived, hasTags, feature.HasOwner, feature.HasKeep}
}

// parts returns a body with its parts, and with the defaults of omitted properties of the record.
func (b reader) parts(sent jsonbody.Object) (read body, err error) {
	read = body{
		Object:       jsonbody.Object{"type": toggle.DefaultType, "description": nil, "impressionData": false},
		tags:         featuretag.TagsOf(sent.Objects("tags")),
		environments: map[string]state{},
	}
	maps.Copy(read.Object, sent)
	if dependency, ok := sent["dependency"].(map[string]any); ok {
		if read.dependency, err = part("/body/dependency", dependency, b.dependency, featuredependency.NoIgnoredVariants); err != nil {
			return body{}, err
		}
	}
	environments, _ := sent["environments"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(environments)) {
		members, _ := environments[name].(map[string]any)
		object := jsonbody.Object(members)
		next := state{enabled: object.Bool("enabled")}
		for i, element := range object.Objects("strategies") {
			place := fmt.Sprintf("%s/strategies/%d", placeOf(name), i)
			strategy, err := part(place, element, b.strategy, inOrder)
			if err != nil {
				return body{}, err
			}
			next.strategies = append(next.strategies, strategy)
		}
		read.environments[name] = next
	}
	return read, nil
}

// part returns a part of a body, which is the body of another operation.
func part(place string, object jsonbody.Object, schema *jsonbody.Schema, rule jsonbody.Rule) (jsonbody.Object, error) {
	text, err := jsonbody.Encode(object)
	if err != nil {
		return nil, fmt.Errorf("encode a part of a body: %w", err)
	}
	checked, err := schema.Decode(text, rule)
	return checked, apierror.Below(place, err)
}

// inOrder is the rule that a strategy has no sort order: the order is that of the list.
func inOrder(strategy jsonbody.Object) []apierror.Detail {
	if !strategy.Has("sortOrder") {
		return nil
	}
	return []apierror.Detail{apierror.At("/body/sortOrder", "must not be sent: the order is that of the list")}
}

// noStateIfArchived is the rule that a toggle that is archived keeps its state in all environments.
func noStateIfArchived(sent jsonbody.Object) []apierror.Detail {
	if environments, _ := sent["environments"].(map[string]any); !sent.Bool("archived") || len(environments) == 0 {
		return nil
	}
	return []apierror.Detail{apierror.At("/body/environments", "must be empty if `archived` is true")}
}

// hasTags is the rule that the values of tags are possible.
func hasTags(sent jsonbody.Object) []apierror.Detail {
	return featuretag.Invalid(sent.Objects("tags"), "/body/tags")
}

// hasSource is the rule that managedBy, if it is sent, is a URL that a browser can open.
func hasSource(sent jsonbody.Object) []apierror.Detail {
	text, ok := sent.TextOK("managedBy")
	if !ok {
		return nil
	}
	if toggle.IsWebURL(text) {
		return nil
	}
	return []apierror.Detail{apierror.At("/body/managedBy", "must be a URL that begins with https:// or http://").Sent(text)}
}

// checkTagTypes returns a 400 for a tag of a body whose type does not exist.
func checkTagTypes(ctx context.Context, types *tagtype.Store, body body) error {
	var violations []apierror.Detail
	for i, tag := range body.tags {
		switch _, err := types.Get(ctx, tag.Type); {
		case apierror.KindOf(err) == apierror.NotFound:
			violations = append(violations,
				apierror.At(fmt.Sprintf("/body/tags/%d/type", i), "must be the name of a tag type").Sent(tag.Type))
		case err != nil:
			return err
		}
	}
	return apierror.InvalidIfAny(violations)
}

// checkEnvironments returns a 400 for an environment of a body that the project does not have.
func checkEnvironments(ctx context.Context, environments *environment.Store, project string, body body) error {
	names := slices.Sorted(maps.Keys(body.environments))
	if len(names) == 0 {
		return nil
	}
	p, err := access.VisibleProject(ctx, project)
	if err != nil {
		return err
	}
	known, err := environments.Named(ctx, names)
	if err != nil {
		return err
	}
	var violations []apierror.Detail
	for _, name := range names {
		if _, exists := known[name]; !exists || !p.HasEnvironment(name) {
			violations = append(violations, apierror.At(placeOf(name), "must be the state in an environment of the project"))
		}
	}
	return apierror.InvalidIfAny(violations)
}

// placeOf returns the place of the state in an environment.
func placeOf(environment string) string {
	return jsonbody.Join("/body/environments", apierror.Echo(environment))
}
