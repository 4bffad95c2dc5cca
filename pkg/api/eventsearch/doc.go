// Package eventsearch reads the event log, which package eventlog writes: it serves GET /api/admin/search/events, renders
// events in the form of the API, and removes names of people from events.
package eventsearch
