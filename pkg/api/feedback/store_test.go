package feedback_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/feedback"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
	"toggleadmin/test/table"
)

func TestUpdateChangesOnlyWhatIsSet(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := feedback.NewStore(db.Client, db.Tables, now)
	fine := time.Date(2026, 11, 20, 7, 39, 0, 123_987_654, time.FixedZone("", 7200))
	stored := time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)
	changes := map[string]feedback.Change{
		"nothing": {}, "never": {NeverShow: new(true)}, "show": {NeverShow: new(false)},
		"given": {SetGiven: true, Given: &fine}, "cleared": {SetGiven: true},
		"both": {NeverShow: new(true), SetGiven: true, Given: &fine}, "never, cleared": {NeverShow: new(true), SetGiven: true},
	}
	for _, row := range table.Rows(t, 1, `
		nothing: false none
		never: true none; nothing: true none
		given: false given; nothing: false given
		cleared: false none
		both: true given; nothing: true given
		both: true given; show: false given; never: true given
		both: true given; cleared: true none; cleared: true none; given: true given
		given: false given; never, cleared: true none
	`) {
		for step := range strings.SplitSeq(row[0], "; ") {
			change, result, _ := strings.Cut(step, ": ")
			got, err := store.Update(t.Context(), row[0], 1, changes[change], always())
			want := feedback.Feedback{FeedbackID: row[0], UserID: 1, NeverShow: strings.HasPrefix(result, "true")}
			if strings.HasSuffix(result, "given") {
				want.Given = &stored
			}
			assert.OK(t, err)
			assert.Equal(t, want, got)
		}
	}
	for id, given := range map[string]dynamo.Item{
		"nothing: false none":                      {},
		"given: false given; nothing: false given": {"given": dynamo.S("2026-11-20T05:39:00.123Z")},
	} {
		key := dynamo.Item{"userId": dynamo.N(1), "feedbackId": dynamo.S(id)}
		got := db.Get(t, db.Tables.Feedback, key)
		given["neverShow"], given["expiresAt"] = dynamo.Bool(false), dynamo.N(now().AddDate(0, 0, 400).Unix())
		maps.Copy(given, key)
		assert.Equal(t, given, got, database.Items())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.Update(ctx, "f", 7, feedback.Change{}, always())
	assert.ErrorIs(t, err, context.Canceled)
	if !strings.HasPrefix(fmt.Sprint(err), "update the feedback of user 7: ") {
		t.Error(err)
	}
}

func TestRecordsAreSeparatePerUserAndQuestionnaire(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := feedback.NewStore(db.Client, db.Tables, now)
	longest := strings.Repeat("\U0001F600", 255)
	for _, id := range []string{"f", "F", "f ", "f/%2F", longest} {
		for user := range int64(2) {
			record, err := store.Update(t.Context(), id, user, feedback.Change{}, always())
			assert.OK(t, err)
			assert.Equal(t, feedback.Feedback{FeedbackID: id, UserID: user}, record)
			_, err = store.Update(t.Context(), id, user, feedback.Change{NeverShow: new(true)}, always())
			assert.OK(t, err)
		}
	}
}

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC) }

// always permits every effect of an update.
func always() feedback.Preconditions { return feedback.Preconditions{} }
