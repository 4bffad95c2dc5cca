package e2e_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/local"
	"toggleadmin/test/helper/assert"
)

// attempt is a request to an operation. {project} and other names in braces stand for the properties of a target.
type attempt struct {
	request string // below /api/admin
	body    string // one that the operation accepts; empty: none
	needs   string // what it requires of the caller, see account.answer
}

// attempts returns a request to each operation by its name, and what the operation requires of the caller. It is the
// independent list of the tests of access: an operation that is not in it fails TestEveryOperationIsAttempted.
func attempts() map[string]attempt {
	const (
		features    = "projects/{project}/features"
		feature     = features + "/{toggle}"
		environment = feature + "/environments/{environment}"
		strategies  = environment + "/strategies"
		bulk        = "projects/{project}/bulk_features/environments/{environment}"
		strategy    = `{"name":"default"}`
		segment     = `{"name":"attempt","constraints":[],"project":"{project}"}`
		fields      = `{"environments":["production"],"context":{}}`
		some        = `{"features":["{toggle}"]}`
		token       = `{"description":"attempt","expiresAt":"2026-12-24T00:00:00Z"}`
		inProject   = "projects/{project}/environments/{environment}"
		requests    = "projects/{project}/change-requests"
		freeze      = `{"from":"2098-12-24T00:00:00Z","until":"2099-01-02T00:00:00Z","reason":"attempt"}`
		member      = `{"roles":[5],"groups":[],"users":[{account}]}`
	)
	return map[string]attempt{
		"get-feature-usage-summary": {"GET client-metrics/features/{toggle}", "", "anyone"},
		"get-recent-usage":          {"GET client-metrics/features?feature=IS:{toggle}", "", "anyone"},
		"get-raw-feature-metrics":   {"GET client-metrics/features/{toggle}/raw", "", "anyone"},
		"get-applications":          {"GET metrics/applications", "", "anyone"},
		"get-application":           {"GET metrics/applications/{application}", "", "anyone"},
		"get-unknown-flags":         {"GET metrics/unknown-flags", "", "anyone"},
		"get-traffic-usage":         {"GET metrics/traffic/2026-11", "", "root ADMIN"},

		"get-all-api-tokens": {"GET api-tokens", "", "root READ_CLIENT_API_TOKEN"},
		"create-api-token": {
			"POST api-tokens", `{"tokenName":"attempt","type":"client","projects":["{project}"]}`, "root CREATE_CLIENT_API_TOKEN",
		},
		"update-api-token": {"PUT api-tokens/{token}", `{"expiresAt":"2026-12-24T00:00:00Z"}`, "root UPDATE_CLIENT_API_TOKEN"},
		"delete-api-token": {"DELETE api-tokens/{token}", "", "root DELETE_CLIENT_API_TOKEN"},

		"rotate-api-token":       {"POST api-tokens/{token}/rotate", `{"overlapHours":1}`, "root CREATE_CLIENT_API_TOKEN"},
		"get-project-api-tokens": {"GET projects/{project}/api-tokens", "", "project READ_PROJECT_API_TOKEN"},
		"create-project-api-token": {
			"POST projects/{project}/api-tokens", `{"tokenName":"attempt","type":"client"}`, "project CREATE_PROJECT_API_TOKEN",
		},
		"rotate-project-api-token": {
			"POST projects/{project}/api-tokens/{token}/rotate", `{"overlapHours":1}`, "project CREATE_PROJECT_API_TOKEN",
		},
		"delete-project-api-token": {"DELETE projects/{project}/api-tokens/{token}", "", "project DELETE_PROJECT_API_TOKEN"},

		"validate-constraint":  {"POST constraints/validate", `{"contextName":"userId","operator":"IN","values":["1"]}`, "anyone"},
		"get-context-fields":   {"GET context", "", "anyone"},
		"create-context-field": {"POST context", `{"name":"attempt"}`, "root CREATE_CONTEXT_FIELD"},
		"get-context-field":    {"GET context/{field}", "", "anyone"},
		"update-context-field": {"PUT context/{field}", `{"description":"attempt"}`, "root UPDATE_CONTEXT_FIELD"},
		"delete-context-field": {"DELETE context/{field}", "", "root DELETE_CONTEXT_FIELD"},

		"get-all-environments":     {"GET environments", "", "anyone"},
		"get-project-environments": {"GET environments/project/{project}", "", "visible"},
		"get-environment":          {"GET environments/{environment}", "", "anyone"},
		"create-environment":       {"POST environments", `{"name":"attempt","type":"test"}`, "root ADMIN"},
		"update-environment":       {"PUT environments/update/{environment}", `{"sortOrder":9}`, "root ADMIN"},
		"remove-environment":       {"DELETE environments/{environment}", "", "root ADMIN"},

		"get-environment-freeze":    {"GET environments/{environment}/freeze", "", "anyone"},
		"set-environment-freeze":    {"PUT environments/{environment}/freeze", freeze, "root ADMIN"},
		"delete-environment-freeze": {"DELETE environments/{environment}/freeze", "", "root ADMIN"},

		"search-events": {"GET search/events?feature=IS:{toggle}", "", "anyone"},

		"get-features":      {"GET " + features, "", "visible"},
		"get-feature":       {"GET " + feature, "", "visible"},
		"create-feature":    {"POST " + features, `{"name":"attempt"}`, "project CREATE_FEATURE"},
		"update-feature":    {"PUT " + feature, `{"description":"attempt"}`, "project UPDATE_FEATURE"},
		"stale-features":    {"POST projects/{project}/stale", `{"features":["{toggle}"],"stale":true}`, "project UPDATE_FEATURE"},
		"archive-feature":   {"DELETE " + feature, "", "project DELETE_FEATURE"},
		"revive-feature":    {"POST archive/revive/{archived}", "", "toggle UPDATE_FEATURE"},
		"delete-feature":    {"DELETE archive/{archived}", "", "toggle DELETE_FEATURE"},
		"change-project":    {"POST " + feature + "/changeProject", `{"newProjectId":"{destination}"}`, "project MOVE_FEATURE_TOGGLE"},
		"clone-feature":     {"POST " + feature + "/clone", `{"name":"attempt"}`, "project CREATE_FEATURE"},
		"set-feature-state": {"PUT " + feature + "/state", `{"description":"attempt"}`, "visible"}, // then for each difference
		"add-feature-dependency": {
			"POST " + feature + "/dependencies", `{"feature":"{parent}"}`, "project UPDATE_FEATURE_DEPENDENCY",
		},
		"delete-feature-dependency": {
			"DELETE " + features + "/{child}/dependencies/{parent}", "", "project UPDATE_FEATURE_DEPENDENCY",
		},

		"search-features": {"GET search/features?project=IS:{project}", "", "anyone"},
		"count-features":  {"GET search/features/counts?project=IS:{project}", "", "anyone"},

		"get-feature-environment":        {"GET " + environment, "", "visible"},
		"toggle-feature-environment-on":  {"POST " + environment + "/on", "", "environment UPDATE_FEATURE_ENVIRONMENT"},
		"toggle-feature-environment-off": {"POST " + environment + "/off", "", "environment UPDATE_FEATURE_ENVIRONMENT"},
		"bulk-toggle-features-environment-on": {
			"POST " + bulk + "/on", some, "environment UPDATE_FEATURE_ENVIRONMENT",
		},
		"bulk-toggle-features-environment-off": {
			"POST " + bulk + "/off", some, "environment UPDATE_FEATURE_ENVIRONMENT",
		},
		"get-feature-strategies":  {"GET " + strategies, "", "visible"},
		"get-feature-strategy":    {"GET " + strategies + "/{strategy}", "", "visible"},
		"add-feature-strategy":    {"POST " + strategies, strategy, "environment CREATE_FEATURE_STRATEGY"},
		"update-feature-strategy": {"PUT " + strategies + "/{strategy}", strategy, "environment UPDATE_FEATURE_STRATEGY"},
		"delete-feature-strategy": {"DELETE " + strategies + "/{strategy}", "", "environment DELETE_FEATURE_STRATEGY"},
		"set-strategy-sort-order": {
			"POST " + strategies + "/set-sort-order", `[{"id":"{strategy}","sortOrder":9}]`, "environment UPDATE_FEATURE_STRATEGY",
		},
		"get-all-strategies": {"GET strategies", "", "anyone"},

		"get-tag-types":   {"GET tag-types", "", "anyone"},
		"get-tag-type":    {"GET tag-types/simple", "", "anyone"},
		"create-tag-type": {"POST tag-types", `{"name":"attempt"}`, "root CREATE_TAG_TYPE"},
		"update-tag-type": {"PUT tag-types/simple", `{"description":"attempt"}`, "root UPDATE_TAG_TYPE"},
		"delete-tag-type": {"DELETE tag-types/simple", "", "root DELETE_TAG_TYPE"},
		"list-tags":       {"GET features/{toggle}/tags", "", "visible"},
		"add-tag":         {"POST features/{toggle}/tags", `{"type":"simple","value":"attempt"}`, "toggle UPDATE_FEATURE"},
		"update-tags":     {"PUT features/{toggle}/tags", `{"addedTags":[],"removedTags":[]}`, "toggle UPDATE_FEATURE"},
		"remove-tag":      {"DELETE features/{toggle}/tags/simple/attempt", "", "toggle UPDATE_FEATURE"},
		"add-tag-to-features": {
			"PUT projects/{project}/tags", `{"features":["{toggle}"],"tags":{"addedTags":[],"removedTags":[]}}`,
			"project UPDATE_FEATURE",
		},

		"get-feature-lifecycle":   {"GET " + feature + "/lifecycle", "", "visible"},
		"add-favorite-feature":    {"POST " + feature + "/favorites", "", "person visible"},
		"remove-favorite-feature": {"DELETE " + feature + "/favorites", "", "person visible"},
		"add-favorite-project":    {"POST projects/{project}/favorites", "", "person visible"},
		"remove-favorite-project": {"DELETE projects/{project}/favorites", "", "person visible"},
		"get-saved-views":         {"GET user/views", "", "person"},
		"set-saved-views":         {"PUT user/views", `{"views":[{"name":"attempt","query":"owner=IS:user:3"}]}`, "person"},
		"get-tags":                {"GET tags", "", "anyone"},
		"get-tags-by-type":        {"GET tags/simple", "", "anyone"},
		"get-tag":                 {"GET tags/simple/{tag}", "", "anyone"},
		"validate-tag-type":       {"POST tag-types/validate", `{"name":"validated"}`, "anyone"},

		"get-code-references": {"GET code-references", "", "anyone"},
		"report-code-references": {
			"POST projects/{project}/code-references", `{"repository":"attempt","references":[]}`, "project UPDATE_FEATURE",
		},
		"get-feature-code-references": {"GET " + feature + "/code-references", "", "visible"},
		"update-features":             {"PUT projects/{project}/features", `{"features":["{toggle}"]}`, "project UPDATE_FEATURE"},
		"create-feature-link": {
			"POST projects/{project}/features/{toggle}/link", `{"url":"https://example.com"}`, "project UPDATE_FEATURE",
		},
		"update-feature-link": {
			"PUT projects/{project}/features/{toggle}/link/attempt", `{"url":"https://example.com"}`, "project UPDATE_FEATURE",
		},
		"delete-feature-link": {"DELETE projects/{project}/features/{toggle}/link/attempt", "", "project UPDATE_FEATURE"},

		"get-all-feature-types":        {"GET feature-types", "", "anyone"},
		"update-feature-type-lifetime": {"PUT feature-types/release/lifetime", `{"lifetimeDays":9}`, "root ADMIN"},
		"update-feedback":              {"PUT feedback/attempt", `{"neverShow":true}`, "person"},

		"get-groups":   {"GET groups", "", "anyone"},
		"get-group":    {"GET groups/{group}", "", "anyone"},
		"create-group": {"POST groups", `{"name":"attempt"}`, "root ADMIN"},
		"update-group": {"PUT groups/{group}", `{"name":"attempt"}`, "root ADMIN"},
		"delete-group": {"DELETE groups/{group}", "", "root ADMIN"},

		"get-pats":                     {"GET user/tokens", "", "person"},
		"create-pat":                   {"POST user/tokens", token, "person"},
		"delete-pat":                   {"DELETE user/tokens/{pat}", "", "person"},
		"get-service-account-tokens":   {"GET service-account/{service account}/token", "", "root ADMIN"},
		"create-service-account-token": {"POST service-account/{service account}/token", token, "root ADMIN"},
		"get-service-account-token":    {"GET service-account/{service account}/token/{pat}", "", "root ADMIN"},
		"delete-service-account-token": {"DELETE service-account/{service account}/token/{pat}", "", "root ADMIN"},
		"get-service-account-trusts":   {"GET service-account/{service account}/trust", "", "root ADMIN"},
		"create-service-account-trust": {
			"POST service-account/{service account}/trust",
			`{"description":"a","issuer":"https://ci.example.com","audience":"http://127.0.0.1","claims":{"sub":"attempt"}}`, "root ADMIN",
		},
		"delete-service-account-trust": {"DELETE service-account/{service account}/trust/2147483647", "", "root ADMIN"},
		"get-tokens":                   {"GET tokens", "", "root ADMIN"},
		"get-service-accounts":         {"GET service-account", "", "root ADMIN"},
		"create-service-account":       {"POST service-account", `{"username":"attempt","name":"a","rootRole":1}`, "root ADMIN"},
		"update-service-account":       {"PUT service-account/{service account}", `{"rootRole":1}`, "root ADMIN"},
		"delete-service-account":       {"DELETE service-account/{service account}", "", "root ADMIN"},
		"get-service-account-permissions": {
			"GET service-account/{service account}/permissions?project={project}", "", "root ADMIN",
		},

		"get-users":            {"GET user-admin", "", "root ADMIN"},
		"create-user":          {"POST user-admin", `{"email":"attempt@example.com","rootRole":1}`, "root ADMIN"},
		"search-users":         {"GET user-admin/search?q=a", "", "person"},
		"get-user":             {"GET user-admin/{account}", "", "root ADMIN"},
		"update-user":          {"PUT user-admin/{account}", `{"rootRole":1}`, "root ADMIN"},
		"set-user-disabled":    {"PUT user-admin/{account}/disabled", `{"disabled":true}`, "root ADMIN"},
		"delete-user":          {"DELETE user-admin/{account}", "", "root ADMIN"},
		"get-user-permissions": {"GET user-admin/{account}/permissions?project={project}", "", "root ADMIN"},
		"get-me":               {"GET user", "", "person"},
		"get-user-roles":       {"GET user/roles?projectId={project}", "", "person visible"},

		"get-permissions": {"GET permissions", "", "anyone"},
		"get-roles":       {"GET roles", "", "anyone"},
		"get-role-by-id":  {"GET roles/{role}", "", "anyone"},
		"create-role":     {"POST roles", `{"name":"attempt","permissions":[]}`, "root ADMIN"},
		"validate-role":   {"POST roles/validate", `{"name":"attempt","permissions":[]}`, "root ADMIN"},
		"update-role":     {"PUT roles/{role}", `{"name":"attempt","permissions":[]}`, "root ADMIN"},
		"delete-role":     {"DELETE roles/{role}", "", "root ADMIN"},

		"evaluate-features": {"POST playground/advanced", fields, "anyone"},
		"evaluate-strategy": {
			"POST playground/strategy", `{"name":"default","parameters":{},"context":{},"segments":[{segment}]}`, "anyone",
		},

		"get-projects":            {"GET projects", "", "anyone"},
		"create-project":          {"POST projects", `{"id":"attempt","name":"a"}`, "root CREATE_PROJECT"},
		"validate-project":        {"POST projects/validate", `{"id":"attempt"}`, "root CREATE_PROJECT"},
		"get-project-overview":    {"GET projects/{project}/overview", "", "visible"},
		"update-project":          {"PUT projects/{project}", `{"name":"attempt"}`, "project UPDATE_PROJECT"},
		"update-project-settings": {"PUT projects/{project}/settings", `{"linkTemplates":[]}`, "project UPDATE_PROJECT"},
		"archive-project":         {"POST projects/archive/{project}", "", "project DELETE_PROJECT"},
		"revive-project":          {"POST projects/revive/{project}", "", "project DELETE_PROJECT"},
		"delete-project":          {"DELETE projects/{project}", "", "project DELETE_PROJECT"},
		"add-environment-to-project": {
			"POST projects/{project}/environments", `{"environment":"{environment}"}`, "project UPDATE_PROJECT",
		},
		"remove-environment-from-project": {
			"DELETE projects/{project}/environments/{environment}", "", "project UPDATE_PROJECT",
		},
		"get-project-change-request-config": {"GET projects/{project}/change-requests/config", "", "visible"},
		"update-project-change-request-config": {
			"PUT " + inProject + "/change-requests/config", `{"changeRequestsEnabled":false}`, "project PROJECT_CHANGE_REQUEST_WRITE",
		},
		"create-change-request": {
			"POST " + inProject + "/change-requests", `{"feature":"{toggle}","action":"archiveFeature"}`, "asks",
		},
		"get-change-requests":          {"GET " + requests, "", "visible"},
		"get-change-request":           {"GET " + requests + "/{request}", "", "visible"},
		"delete-change-request":        {"DELETE " + requests + "/{request}", "", "visible"}, // and an author
		"update-change-request-state":  {"PUT " + requests + "/{request}/state", `{"state":"Applied"}`, "visible"},
		"update-change-request-title":  {"PUT " + requests + "/{request}/title", `{"title":"attempt"}`, "visible"},
		"add-change-request-comment":   {"POST " + requests + "/{request}/comments", `{"text":"attempt"}`, "visible"},
		"get-change-request-approvers": {"GET " + requests + "/{request}/approvers", "", "visible"},
		"update-change-request-approvers": {
			"PUT " + requests + "/{request}/approvers", `{"reviewers":[]}`, "visible",
		},
		"update-change-request-change": {
			"PUT " + requests + "/{request}/changes/1", `{"feature":"{toggle}","action":"archiveFeature"}`, "visible",
		},
		"delete-change-request-change":         {"DELETE " + requests + "/{request}/changes/1", "", "visible"},
		"get-open-change-requests":             {"GET " + requests + "/pending", "", "visible"},
		"get-scheduled-change-requests":        {"GET " + requests + "/scheduled", "", "visible"},
		"get-open-change-requests-for-feature": {"GET " + requests + "/pending/{toggle}", "", "visible"},
		"count-change-requests":                {"GET " + requests + "/count", "", "visible"},
		"get-actionable-change-requests":       {"GET " + requests + "/actionable", "", "visible"},
		"get-available-change-request-reviewers": {
			"GET " + requests + "/available-reviewers/{environment}", "", "visible",
		},
		"evaluate-change-request":        {"POST playground/change-request/{request}", `{"context":{}}`, "anyone"}, // who sees the project
		"search-change-requests":         {"GET search/change-requests", "", "anyone"},
		"get-project-environment-freeze": {"GET " + inProject + "/freeze", "", "visible"},
		"set-project-environment-freeze": {"PUT " + inProject + "/freeze", freeze, "project PROJECT_CHANGE_REQUEST_WRITE"},
		"delete-project-environment-freeze": {
			"DELETE " + inProject + "/freeze", "", "project PROJECT_CHANGE_REQUEST_WRITE",
		},
		"get-project-access": {"GET projects/{project}/access", "", "visible"},
		"set-project-access": {
			"PUT projects/{project}/access", `{"roles":[{"id":4,"users":[{account}]}]}`, "project PROJECT_USER_ACCESS_WRITE",
		},
		"add-project-access": {"POST projects/{project}/access", member, "project PROJECT_USER_ACCESS_WRITE"},
		"set-roles-for-user": {
			"PUT projects/{project}/users/{account}/roles?roles=5", "", "project PROJECT_USER_ACCESS_WRITE",
		},
		"remove-user-access": {
			"DELETE projects/{project}/users/{account}/roles?roles=6", "", "project PROJECT_USER_ACCESS_WRITE",
		},
		"set-roles-for-group": {
			"PUT projects/{project}/groups/{group}/roles?roles=5", "", "project PROJECT_USER_ACCESS_WRITE",
		},
		"remove-group-access": {
			"DELETE projects/{project}/groups/{group}/roles?roles=6", "", "project PROJECT_USER_ACCESS_WRITE",
		},

		"get-segments":           {"GET segments", "", "anyone"},
		"get-segment":            {"GET segments/{segment}", "", "segment"},
		"get-segment-strategies": {"GET segments/{segment}/strategies", "", "segment"},
		"create-segment":         {"POST segments", segment, "segment CREATE_SEGMENT"},
		"update-segment":         {"PUT segments/{segment}", `{"description":"attempt"}`, "segment UPDATE_SEGMENT"},
		"remove-segment":         {"DELETE segments/{segment}", "", "segment DELETE_SEGMENT"},
	}
}

func TestEveryOperationIsAttempted(t *testing.T) {
	t.Parallel()
	all := attempts()
	var names []string
	for _, o := range local.Operations() {
		names = append(names, o.Name)
		path, _, _ := strings.Cut(all[o.Name].request, "?")
		if !sameRoute(o.Route, strings.Replace(path, " ", " /api/admin/", 1)) {
			t.Errorf("the operation %s has the route %q, and the attempt is %q", o.Name, o.Route, path)
		}
	}
	slices.Sort(names)
	assert.Equal(t, slices.Sorted(maps.Keys(all)), names)
}

// sameRoute reports whether two routes have the same segments, apart from the names of parameters.
func sameRoute(a, b string) bool {
	return slices.EqualFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(a, b string) bool {
		return a == b || strings.HasPrefix(a, "{") // a parameter, for which the attempt can have a value
	})
}
