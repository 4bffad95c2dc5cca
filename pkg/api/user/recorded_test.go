package user_test

import (
	"encoding/json"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/test/helper/assert"
)

func TestRecorded(t *testing.T) {
	t.Parallel()
	const editor, viewer = `{"rootRole":{"id":2,"name":"Editor"},"disabled":false}`,
		`{"rootRole":{"id":3,"name":"Viewer"},"disabled":false}`
	const disabledEditor = `{"rootRole":{"id":2,"name":"Editor"},"disabled":true}`
	const renamedEditor = `{"name":"New","rootRole":{"id":2,"name":"Editor"},"disabled":false}`
	event := func(kind eventlog.Type, before, after string) eventlog.Event {
		e := eventlog.Event{ID: 7, Type: kind}
		if before != "" {
			e.PreData = json.RawMessage(before)
		}
		if after != "" {
			e.Data = json.RawMessage(after)
		}
		return e
	}
	created := event(eventlog.UserCreated, "", editor)
	deleted := event(eventlog.UserDeleted, editor, "")
	for _, row := range []struct {
		name   string
		events []eventlog.Event
		want   user.Recorded
	}{
		{"no events", nil, user.Recorded{}},
		{"created", []eventlog.Event{created}, user.Recorded{Known: true, Role: access.RoleEditor}},
		{
			"of an account from before the log", []eventlog.Event{event(eventlog.UserUpdated, editor, viewer)},
			user.Recorded{Known: true, Role: access.RoleViewer},
		},
		{
			"an event without the state", []eventlog.Event{created, event(eventlog.UserNameRemoved, "", `{"id":1}`)},
			user.Recorded{Known: true, Role: access.RoleEditor},
		},
		{
			"a change of what a restore brought back does not confirm it",
			[]eventlog.Event{
				created, event(eventlog.UserUpdated, editor, disabledEditor), event(eventlog.UserUpdated, editor, renamedEditor),
			},
			user.Recorded{Known: true, Role: access.RoleEditor, Disabled: true},
		},
		{
			"deleted, and changed after a restore", []eventlog.Event{created, deleted, event(eventlog.UserUpdated, editor, viewer)},
			user.Recorded{Known: true, Role: access.RoleViewer, Deleted: true},
		},
		{
			"deleted, disabled after a restore", []eventlog.Event{
				created, deleted, event(eventlog.UserUpdated, editor, disabledEditor),
			},
			user.Recorded{Known: true, Role: access.RoleEditor, Deleted: true, Disabled: true},
		},
		{
			"deleted, disabled and enabled after a restore", []eventlog.Event{
				created, deleted, event(eventlog.UserUpdated, editor, disabledEditor),
				event(eventlog.UserUpdated, disabledEditor, editor),
			},
			user.Recorded{Known: true, Role: access.RoleEditor},
		},
	} {
		var got user.Recorded
		for _, e := range row.events {
			assert.OK(t, got.Add(e))
		}
		if len(row.events) > 0 {
			row.want.Last = 7
		}
		if got != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}
