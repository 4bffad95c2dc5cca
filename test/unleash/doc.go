// Package unleash tests `toggleadmin import unleash` against a real Unleash on PostgreSQL, which
// scripts/unleash.sh installs.
package unleash
