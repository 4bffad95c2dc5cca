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
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

func TestUpdateChangesOnlyWhatIsSet(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := feedback.NewStore(db.Client, db.Tables)
	fine := time.Date(2026, 11, 20, 7, 39, 0, 123_987_654, time.FixedZone("", 7200))
	stored := time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)
	changes := map[string]feedback.Change{
		"nothing":          {},
		"never show":       {NeverShow: new(true)},
		"show":             {NeverShow: new(false)},
		"given":            {SetGiven: true, Given: &fine},
		"not given":        {SetGiven: true},
		"never, given":     {NeverShow: new(true), SetGiven: true, Given: &fine},
		"never, not given": {NeverShow: new(true), SetGiven: true},
	}
	type step struct {
		change    string
		neverShow bool // in the result
		given     *time.Time
	}
	for id, steps := range map[string][]step{
		"1": {{"nothing", false, nil}},
		"2": {{"never show", true, nil}, {"nothing", true, nil}},
		"3": {{"given", false, &stored}, {"nothing", false, &stored}},
		"4": {{"not given", false, nil}},
		"5": {{"never, given", true, &stored}, {"nothing", true, &stored}},
		"6": {{"never, given", true, &stored}, {"show", false, &stored}, {"never show", true, &stored}},
		"7": {{"never, given", true, &stored}, {"not given", true, nil}, {"not given", true, nil}, {"given", true, &stored}},
		"8": {{"given", false, &stored}, {"never, not given", true, nil}},
	} {
		for _, s := range steps {
			got, err := store.Update(t.Context(), id, 1, changes[s.change], always())
			assert.OK(t, err)
			assert.Equal(t, feedback.Feedback{FeedbackID: id, UserID: 1, NeverShow: s.neverShow, Given: s.given}, got)
		}
	}
	for id, given := range map[string]dynamo.Item{
		"1": {},
		"3": {"given": dynamo.S("2026-11-20T05:39:00.123Z")},
	} {
		key := dynamo.Item{"userId": dynamo.N(1), "feedbackId": dynamo.S(id)}
		got := db.Get(t, db.Tables["Feedback"], key)
		given["neverShow"] = dynamo.Bool(false)
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
	store := feedback.NewStore(db.Client, db.Tables)
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

// always permits every effect of an update.
func always() feedback.Preconditions { return feedback.Preconditions{} }
