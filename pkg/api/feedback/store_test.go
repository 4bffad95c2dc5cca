package feedback_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/api/feedback"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/test/database"
)

func TestUpdateChangesOnlyWhatIsSet(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := feedback.NewStore(db.Client, db.Tables)
	fine := time.Date(2026, 11, 20, 7, 39, 0, 123_987_654, time.FixedZone("", 7200))
	stored := time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)
	never, show := feedback.Change{NeverShow: new(true)}, feedback.Change{NeverShow: new(false)}
	given, cleared := feedback.Change{SetGiven: true, Given: &fine}, feedback.Change{SetGiven: true}
	both := feedback.Change{NeverShow: new(true), SetGiven: true, Given: &fine}
	nothing := feedback.Change{}
	type step struct {
		change    feedback.Change
		neverShow bool
		given     *time.Time
	}
	for name, steps := range map[string][]step{
		"created by an empty change":   {{nothing, false, nil}},
		"created with neverShow":       {{never, true, nil}, {nothing, true, nil}},
		"created with given":           {{given, false, &stored}, {nothing, false, &stored}},
		"created with given cleared":   {{cleared, false, nil}},
		"created with both":            {{both, true, &stored}, {nothing, true, &stored}},
		"neverShow changes, given not": {{both, true, &stored}, {show, false, &stored}, {never, true, &stored}},
		"given changes, neverShow not": {{both, true, &stored}, {cleared, true, nil}, {cleared, true, nil},
			{given, true, &stored}},
		"both change at the same time ": {{given, false, &stored}, {feedback.Change{NeverShow: new(true), SetGiven: true},
			true, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, s := range steps {
				got, err := store.Update(t.Context(), name, 1, s.change)
				want := feedback.Feedback{FeedbackID: name, UserID: 1, NeverShow: s.neverShow, Given: s.given}
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("step %d: %v %s", i, err, diff)
				}
			}
		})
	}
}

func TestRecordsAreSeparatePerUserAndQuestionnaire(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := feedback.NewStore(db.Client, db.Tables)
	longest := strings.Repeat("\U0001F600", 255)
	for i, id := range []string{"f", "F", "f ", "f/%2F", longest} {
		for user := range int64(2) {
			record, err := store.Update(t.Context(), id, user, feedback.Change{})
			if err != nil || record.NeverShow || record.FeedbackID != id || record.UserID != user {
				t.Errorf("record %d of user %d: %+v, %v", i, user, record, err)
			}
			if _, err := store.Update(t.Context(), id, user, feedback.Change{NeverShow: new(true)}); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	store := feedback.NewStore(db.Client, db.Tables)
	given := time.Date(2026, 11, 20, 5, 39, 0, 0, time.UTC)
	for id, change := range map[string]feedback.Change{"full": {SetGiven: true, Given: &given},
		"minimal": {SetGiven: true}} {
		want := dynamo.Item{"userId": dynamo.N(1), "feedbackId": dynamo.S(id), "neverShow": dynamo.Bool(false)}
		if change.Given != nil {
			want["given"] = dynamo.S("2026-11-20T05:39:00.000Z")
		}
		if _, err := store.Update(t.Context(), id, 1, change); err != nil {
			t.Error(err)
		}
		got := db.Get(t, db.Tables.Feedback, dynamo.Item{"userId": dynamo.N(1), "feedbackId": dynamo.S(id)})
		if diff := database.DiffItems(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestErrorsNameTheAction(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := feedback.NewStore(db.Client, db.Tables).Update(ctx, "f", 7, feedback.Change{})
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "update the feedback of user 7: ") {
		t.Error(err)
	}
}

func TestUpdateFunctionNeedsItsTables(t *testing.T) {
	t.Parallel()
	database.RequireVariables(t, database.New(t).Env(t), feedback.NewUpdateFunction, "FEEDBACK_TABLE", "USERS_TABLE")
}
