// Package eventsearch serves GET /api/admin/search/events, and renders events in the form of the API.
package eventsearch
