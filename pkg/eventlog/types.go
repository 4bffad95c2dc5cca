package eventlog

import "slices"

// Type is the type of an event. Names are those of Unleash where it has the event.
type Type string

// The types of events.
const (
	InstallationInitialized    Type = "installation-initialized"
	FeatureTypeCreated         Type = "feature-type-created"
	FeatureTypeUpdated         Type = "feature-type-updated"
	FeaturePotentiallyStaleOn  Type = "feature-potentially-stale-on"
	FeaturePotentiallyStaleOff Type = "feature-potentially-stale-off"
	FeatureCreated             Type = "feature-created"
	FeatureUpdated             Type = "feature-updated"
	FeatureArchived            Type = "feature-archived"
	FeatureRevived             Type = "feature-revived"
	FeatureDeleted             Type = "feature-deleted"
	FeatureStaleOn             Type = "feature-stale-on"
	FeatureStaleOff            Type = "feature-stale-off"
	FeatureEnvironmentEnabled  Type = "feature-environment-enabled"
	FeatureEnvironmentDisabled Type = "feature-environment-disabled"
	FeatureStrategyAdd         Type = "feature-strategy-add"
	FeatureStrategyUpdate      Type = "feature-strategy-update"
	FeatureStrategyRemove      Type = "feature-strategy-remove"
	StrategyOrderChanged       Type = "strategy-order-changed"
	FeatureDependencyAdded     Type = "feature-dependency-added"
	FeatureDependencyRemoved   Type = "feature-dependency-removed"
	FeatureTagged              Type = "feature-tagged"
	FeatureUntagged            Type = "feature-untagged"
	FeatureLinkAdded           Type = "feature-link-added"
	FeatureLinkUpdated         Type = "feature-link-updated"
	FeatureLinkRemoved         Type = "feature-link-removed"
	TagTypeCreated             Type = "tag-type-created"
	TagTypeUpdated             Type = "tag-type-updated"
	TagTypeDeleted             Type = "tag-type-deleted"
	ContextFieldCreated        Type = "context-field-created"
	ContextFieldUpdated        Type = "context-field-updated"
	ContextFieldDeleted        Type = "context-field-deleted"
	EnvironmentCreated         Type = "environment-created"
	EnvironmentUpdated         Type = "environment-updated"
	EnvironmentDeleted         Type = "environment-deleted"
	ServiceAccountCreated      Type = "service-account-created"
	ServiceAccountUpdated      Type = "service-account-updated"
	ServiceAccountDeleted      Type = "service-account-deleted"
	ServiceAccountTokenCreated Type = "service-account-token-created"
	ServiceAccountTokenDeleted Type = "service-account-token-deleted"
	ServiceAccountTrustCreated Type = "service-account-trust-created"
	ServiceAccountTrustDeleted Type = "service-account-trust-deleted"
	SegmentCreated             Type = "segment-created"
	SegmentUpdated             Type = "segment-updated"
	SegmentDeleted             Type = "segment-deleted"
	PATCreated                 Type = "pat-created"
	PATDeleted                 Type = "pat-deleted"
	APITokenCreated            Type = "api-token-created"
	APITokenUpdated            Type = "api-token-updated"
	APITokenRotated            Type = "api-token-rotated"
	APITokenDeleted            Type = "api-token-deleted"
	UserCreated                Type = "user-created"
	UserUpdated                Type = "user-updated"
	UserDeleted                Type = "user-deleted"
	RoleCreated                Type = "role-created"
	RoleUpdated                Type = "role-updated"
	RoleDeleted                Type = "role-deleted"
	GroupCreated               Type = "group-created"
	GroupUpdated               Type = "group-updated"
	GroupDeleted               Type = "group-deleted"
	ProjectCreated             Type = "project-created"
	ProjectUpdated             Type = "project-updated"
	ProjectArchived            Type = "project-archived"
	ProjectRevived             Type = "project-revived"
	ProjectDeleted             Type = "project-deleted"
	ProjectEnvironmentAdded    Type = "project-environment-added"
	ProjectEnvironmentRemoved  Type = "project-environment-removed"
	ProjectAccessUpdated       Type = "project-access-updated"
	FeatureProjectChange       Type = "feature-project-change"
	ChangeRequestConfigUpdated Type = "change-request-configuration-updated"
	EnvironmentFreezeSet       Type = "environment-freeze-set"
	EnvironmentFreezeRemoved   Type = "environment-freeze-removed"
	ChangeRequestCreated       Type = "change-request-created"
	ChangeRequestUpdated       Type = "change-request-updated"
	ChangeRequestDiscarded     Type = "change-request-discarded"
	ChangeRequestSentToReview  Type = "change-request-sent-to-review"
	ChangeRequestApproved      Type = "change-request-approved"
	ChangeRequestRejected      Type = "change-request-rejected"
	ChangeRequestCancelled     Type = "change-request-cancelled" //nolint:misspell // as in Unleash
	ChangeRequestScheduled     Type = "change-request-scheduled"
	ChangeRequestSuspended     Type = "change-request-schedule-suspended"
	ChangeRequestFailed        Type = "change-request-schedule-failed"
	ChangeRequestApplied       Type = "change-request-applied"
	ChangeRequestCommentAdded  Type = "change-request-comment-added"
	TokenExpiring              Type = "token-expiring" //nolint:gosec // not a credential
)

// Definition describes a type of event.
type Definition struct {
	Type   Type
	Group  string // under which the console shows the type
	Label  string // for people
	Phrase string // what the actor did, for summaries, with %s for the subject; "": the summary has its own sentence
}

// definitions is the one list of all types, in the order of the console, for which make console writes a file. Tests
// compare it with the OpenAPI document and the parameter WebhookEvents in template.yaml.
var definitions = []Definition{
	{FeatureCreated, "Toggles", "Toggle created", "created the toggle %s"},
	{FeatureUpdated, "Toggles", "Toggle updated", "updated the toggle %s"},
	{FeatureArchived, "Toggles", "Toggle archived", "archived the toggle %s"},
	{FeatureRevived, "Toggles", "Toggle revived", "revived the toggle %s"},
	{FeatureDeleted, "Toggles", "Toggle deleted", "deleted the toggle %s"},
	{FeatureProjectChange, "Toggles", "Toggle moved to another project", "moved the toggle %s to another project"},
	{FeatureStaleOn, "Toggles", "Toggle marked as stale", "marked the toggle %s as stale"},
	{FeatureStaleOff, "Toggles", "Toggle no longer marked as stale", "no longer marks the toggle %s as stale"},
	{FeatureEnvironmentEnabled, "Toggles", "Toggle turned on", "turned on the toggle %s"},
	{FeatureEnvironmentDisabled, "Toggles", "Toggle turned off", "turned off the toggle %s"},
	{FeatureStrategyAdd, "Toggles", "Strategy added", "added a strategy to the toggle %s"},
	{FeatureStrategyUpdate, "Toggles", "Strategy updated", "updated a strategy of the toggle %s"},
	{FeatureStrategyRemove, "Toggles", "Strategy removed", "removed a strategy of the toggle %s"},
	{StrategyOrderChanged, "Toggles", "Order of strategies changed", "changed the order of the strategies of the toggle %s"},
	{FeatureDependencyAdded, "Toggles", "Dependency added", "added a dependency of the toggle %s"},
	{FeatureDependencyRemoved, "Toggles", "Dependency removed", "removed a dependency of the toggle %s"},
	{FeatureTagged, "Toggles", "Tag added", ""},
	{FeatureUntagged, "Toggles", "Tag removed", ""},
	{FeatureLinkAdded, "Toggles", "Link added", ""},
	{FeatureLinkUpdated, "Toggles", "Link changed", ""},
	{FeatureLinkRemoved, "Toggles", "Link removed", ""},
	{FeaturePotentiallyStaleOn, "Toggles", "Toggle became potentially stale", ""},
	{FeaturePotentiallyStaleOff, "Toggles", "Toggle is no longer potentially stale", ""},
	{ProjectCreated, "Projects", "Project created", "created the project %s"},
	{ProjectUpdated, "Projects", "Project updated", "updated the project %s"},
	{ProjectArchived, "Projects", "Project archived", "archived the project %s"},
	{ProjectRevived, "Projects", "Project revived", "revived the project %s"},
	{ProjectDeleted, "Projects", "Project deleted", "deleted the project %s"},
	{ProjectEnvironmentAdded, "Projects", "Environment added to a project", "added an environment to the project %s"},
	{ProjectEnvironmentRemoved, "Projects", "Environment removed from a project", "removed an environment from the project %s"},
	{ProjectAccessUpdated, "Projects", "Access to a project changed", "changed who has access to the project %s"},
	{ChangeRequestConfigUpdated, "Projects", "Protection of an environment changed",
		"changed the protection of an environment of the project %s"},
	{ChangeRequestCreated, "Change requests", "Change request created", "created the change request %s"},
	{ChangeRequestUpdated, "Change requests", "Change request changed", "changed the change request %s"},
	{ChangeRequestDiscarded, "Change requests", "Draft of a change request deleted", "deleted the draft %s of a change request"},
	{ChangeRequestSentToReview, "Change requests", "Change request sent to review", "sent the change request %s to review"},
	{ChangeRequestApproved, "Change requests", "Change request approved", "approved the change request %s"},
	{ChangeRequestRejected, "Change requests", "Change request rejected", "rejected the change request %s"},
	{ChangeRequestCancelled, "Change requests", "Change request canceled", "canceled the change request %s"},
	{ChangeRequestScheduled, "Change requests", "Change request scheduled", ""},
	{ChangeRequestSuspended, "Change requests", "Schedule of a change request suspended", ""},
	{ChangeRequestFailed, "Change requests", "Scheduled change request failed", ""},
	{ChangeRequestApplied, "Change requests", "Change request applied", "applied the change request %s"},
	{ChangeRequestCommentAdded, "Change requests", "Change request commented on", "commented on the change request %s"},
	{FeatureTypeCreated, "Toggle types", "Toggle type created", "created the toggle type %s"},
	{FeatureTypeUpdated, "Toggle types", "Toggle type updated", ""},
	{TagTypeCreated, "Tag types", "Tag type created", "created the tag type %s"},
	{TagTypeUpdated, "Tag types", "Tag type updated", "updated the tag type %s"},
	{TagTypeDeleted, "Tag types", "Tag type deleted", "deleted the tag type %s"},
	{ContextFieldCreated, "Context fields", "Context field created", "created the context field %s"},
	{ContextFieldUpdated, "Context fields", "Context field updated", "updated the context field %s"},
	{ContextFieldDeleted, "Context fields", "Context field deleted", "deleted the context field %s"},
	{EnvironmentCreated, "Environments", "Environment created", "created the environment %s"},
	{EnvironmentUpdated, "Environments", "Environment updated", "updated the environment %s"},
	{EnvironmentDeleted, "Environments", "Environment deleted", "deleted the environment %s"},
	{EnvironmentFreezeSet, "Environments", "Environment frozen", ""},
	{EnvironmentFreezeRemoved, "Environments", "Freeze of an environment ended", ""},
	{SegmentCreated, "Segments", "Segment created", "created the segment %s"},
	{SegmentUpdated, "Segments", "Segment updated", "updated the segment %s"},
	{SegmentDeleted, "Segments", "Segment deleted", "deleted the segment %s"},
	{PATCreated, "Tokens", "Token created", "created the token %s"},
	{PATDeleted, "Tokens", "Token deleted", "deleted the token %s"},
	{ServiceAccountTokenCreated, "Tokens", "Service account token created", "created the token %s of a service account"},
	{ServiceAccountTokenDeleted, "Tokens", "Service account token deleted", "deleted the token %s of a service account"},
	{ServiceAccountTrustCreated, "Tokens", "Service account trust created", "created the trust %s of a service account"},
	{ServiceAccountTrustDeleted, "Tokens", "Service account trust deleted", "deleted the trust %s of a service account"},
	{APITokenCreated, "Tokens", "API token created", "created the API token %s"},
	{APITokenUpdated, "Tokens", "API token updated", "updated the API token %s"},
	{APITokenRotated, "Tokens", "API token rotated", "rotated the API token %s"},
	{APITokenDeleted, "Tokens", "API token deleted", "deleted the API token %s"},
	{TokenExpiring, "Tokens", "Token is about to expire", ""},
	{ServiceAccountCreated, "Accounts", "Service account created", "created the service account %s"},
	{ServiceAccountUpdated, "Accounts", "Service account updated", "updated the service account %s"},
	{ServiceAccountDeleted, "Accounts", "Service account deleted", "deleted the service account %s"},
	{UserCreated, "Accounts", "Person created", "created the person %s"},
	{UserUpdated, "Accounts", "Person updated", "updated the person %s"},
	{UserDeleted, "Accounts", "Person deleted", "deleted the person %s"},
	{RoleCreated, "Roles and groups", "Role created", "created the role %s"},
	{RoleUpdated, "Roles and groups", "Role updated", "updated the role %s"},
	{RoleDeleted, "Roles and groups", "Role deleted", "deleted the role %s"},
	{GroupCreated, "Roles and groups", "Group created", "created the group %s"},
	{GroupUpdated, "Roles and groups", "Group updated", "updated the group %s"},
	{GroupDeleted, "Roles and groups", "Group deleted", "deleted the group %s"},
	{InstallationInitialized, "Installation", "Installation initialized", "initialized the installation"},
}

// Definitions returns the descriptions of all types, grouped.
func Definitions() []Definition { return slices.Clone(definitions) }

// Types returns all types, ordered by name.
func Types() []Type {
	var all []Type
	for _, d := range definitions {
		all = append(all, d.Type)
	}
	slices.Sort(all)
	return all
}

// Definition returns the description of the type. It is empty for an unknown type.
func (t Type) Definition() Definition {
	i := slices.IndexFunc(definitions, func(d Definition) bool { return d.Type == t })
	if i < 0 {
		return Definition{}
	}
	return definitions[i]
}

// Label returns the text of the type for people, such as "Token created", or "" for an unknown type.
func (t Type) Label() string { return t.Definition().Label }
