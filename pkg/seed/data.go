package seed

import (
	"time"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/feature"
	"toggleadmin/pkg/user"
)

// accounts are one person for each root role and a service account without tokens. README and scripts know these ids.
func accounts() []user.User {
	return []user.User{
		{ID: 1, Kind: user.Person, Name: "admin", Email: "admin@example.com", Role: auth.RoleAdmin},
		{ID: 2, Kind: user.Person, Name: "editor", Email: "editor@example.com", Role: auth.RoleEditor},
		{ID: 3, Kind: user.Person, Name: "viewer", Email: "viewer@example.com", Role: auth.RoleViewer},
		{ID: 4, Kind: user.ServiceAccount, Name: "ci", Role: auth.RoleEditor},
	}
}

// toggles are examples of every type, younger and older than their type's lifetime, with constraints on some context fields.
func toggles(now time.Time) []feature.Feature {
	daysAgo := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	return []feature.Feature{
		{Name: "dark-mode", Project: "default", Type: "release", CreatedAt: daysAgo(3), ContextFields: []string{"userId"}},
		{Name: "new-checkout", Project: "shop", Type: "release", CreatedAt: daysAgo(55), ContextFields: []string{"userId", "appName"}},
		{Name: "old-banner", Project: "shop", Type: "release", CreatedAt: daysAgo(300), Archived: true, ContextFields: []string{"environment"}},
		{Name: "legacy-login", Project: "default", Type: "release", CreatedAt: daysAgo(120), Stale: true, ContextFields: []string{"environment"}},
		{Name: "search-ranking", Project: "shop", Type: "experiment", CreatedAt: daysAgo(39), ContextFields: []string{"sessionId"}},
		{Name: "rate-limit", Project: "default", Type: "operational", CreatedAt: daysAgo(8), ContextFields: []string{"appName", "environment"}},
		{Name: "stop-payments", Project: "shop", Type: "kill-switch", CreatedAt: daysAgo(400)},
		{Name: "beta-access", Project: "default", Type: "permission", CreatedAt: daysAgo(200), ContextFields: []string{"userId", "currentTime"}},
	}
}
