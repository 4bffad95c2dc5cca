package toggle_test

import (
	"encoding/json"
	"testing"

	"toggleadmin/pkg/toggle"
)

func checkJSON(t *testing.T, value any, want string) {
	t.Helper()
	got, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	checkJSON(t, toggle.Feature{
		Name:             "checkout",
		Project:          "default",
		Type:             "release",
		Description:      new("The new checkout"),
		ImpressionData:   true,
		CreatedAt:        *date(t, "2026-11-20T07:39:00.123999999+02:00"),
		CreatedBy:        &toggle.Creator{Name: "Ada"}, // in another system
		Archived:         true,
		ArchivedAt:       date(t, "2026-11-21T05:39:00Z"),
		Stale:            true,
		ContextFields:    []string{"country", "userId"},
		PotentiallyStale: true,
		LastEvent:        17,
		Owner:            &toggle.Owner{Kind: toggle.OwnerUser, ID: 7},
		Keep:             &toggle.Keep{Until: *date(t, "2027-01-31T00:00:00Z"), Reason: "Sale"},
		Links:            []toggle.Link{{ID: "1", URL: "https://example.com"}},
	}.JSON(), `{
	"name": "checkout",
	"project": "default",
	"type": "release",
	"description": "The new checkout",
	"impressionData": true,
	"createdAt": "2026-11-20T05:39:00.123Z",
	"createdBy": "Ada",
	"archived": true,
	"archivedAt": "2026-11-21T05:39:00.000Z",
	"stale": true,
	"contextFields": [
		"country",
		"userId"
	],
	"owner": {
		"kind": "user",
		"id": 7
	},
	"keepUntil": "2027-01-31",
	"keepReason": "Sale",
	"links": [
		{
			"id": "1",
			"url": "https://example.com",
			"title": null
		}
	]
}`)
	checkJSON(t, toggle.Feature{Name: "checkout"}.JSON(), `{
	"name": "checkout",
	"project": "",
	"type": "",
	"description": null,
	"impressionData": false,
	"createdAt": "0001-01-01T00:00:00.000Z",
	"archived": false,
	"archivedAt": null,
	"stale": false,
	"contextFields": []
}`)
}

func TestFlagChange(t *testing.T) {
	t.Parallel()
	f := toggle.Feature{
		Name:      "checkout",
		Project:   "default",
		Type:      "release",
		CreatedAt: *date(t, "2026-11-20T05:39:00Z"),
	}
	checkJSON(t, f.FlagChange(new(int64(40)), "", nil), `{
	"featureName": "checkout",
	"project": "default",
	"featureType": "release",
	"lifetimeDays": 40,
	"createdAt": "2026-11-20T05:39:00.000Z"
}`)
	checkJSON(t, f.FlagChange(nil, toggle.ReasonLifetimeChanged, new(int64(17))), `{
	"featureName": "checkout",
	"project": "default",
	"featureType": "release",
	"lifetimeDays": null,
	"createdAt": "2026-11-20T05:39:00.000Z",
	"reason": "lifetime-changed",
	"causedBy": 17
}`)
}
