package event_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/event"
)

// TestExamples checks the examples of docs/events.md.
func TestExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 5, 39, 0, 123_000_000, time.UTC)
	feature := event.Feature{
		FeatureName: "checkout", Project: "default", FeatureType: "release", LifetimeDays: new(int64(40)), CreatedAt: "2026-10-11T05:39:00.123Z",
	}
	cleared := feature
	cleared.LifetimeDays, cleared.Reason = new(int64(60)), event.LifetimeChanged
	for _, e := range []event.Event{
		event.New("toggleadmin-prod", event.FeaturePotentiallyStaleOn, "checkout", at.UnixMilli(), at, feature),
		event.New("toggleadmin-prod", event.FeaturePotentiallyStaleOff, "checkout", at.UnixMilli()+1, at.Add(time.Hour), cleared),
		event.New("toggleadmin-prod", event.FeatureTypeUpdated, "release", at.UnixMilli(), at, event.FeatureType{
			ID: "release", LifetimeDays: new(int64(60)), PreviousLifetimeDays: new(int64(40)), ChangedBy: event.Changer{Type: "user", ID: 1},
		}),
		event.New("toggleadmin-prod", event.TokenExpiring, "17", at.UnixMilli(), at, event.Token{
			ID: 17, UserID: 4, Description: "pipeline", ExpiresAt: "2026-12-04T05:39:00.123Z", Days: 14,
		}),
	} {
		text, err := json.MarshalIndent(e, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if want := "```json\n" + string(text) + "\n```\n"; !strings.Contains(string(page), want) {
			t.Errorf("docs/events.md does not contain\n%s", want)
		}
	}
}
