package installation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// TestReplayEvents answers PutEvents in the form of EventBridge's API reference. The bus throttles one entry of the
// first request, or of all requests. An event without data, which is malformed, does not prevent the others.
func TestReplayEvents(t *testing.T) {
	t.Parallel()
	for _, always := range []bool{false, true} {
		db := database.New(t)
		users := user.NewStore(db.Client, db.Tables, db.Log())
		for range 12 {
			_, err := users.Add(t.Context(), user.User{Kind: user.Person, Name: "n"})
			assert.OK(t, err)
		}
		assert.OK(t, db.Log().Write(t.Context(), func() ([]types.TransactWriteItem, error) {
			_, record, err := db.Log().Actions(t.Context(), eventlog.Change{Type: eventlog.FeatureTypeUpdated, Subject: "type:x"})
			return record, err
		}, nil))
		var stored []string // the ids of events on the bus
		calls := 0
		bus := responding(func(r *http.Request) (int, string) {
			var request struct{ Entries []struct{ Detail string } }
			assert.OK(t, json.NewDecoder(r.Body).Decode(&request))
			calls++
			var results []string
			for k, e := range request.Entries {
				var detail struct{ Sequence string }
				assert.OK(t, json.Unmarshal([]byte(e.Detail), &detail))
				if k == 1 && calls == 1 || k == 0 && always {
					results = append(results, `{"ErrorCode":"ThrottlingException"}`)
					continue
				}
				results, stored = append(results, `{"EventId":"1"}`), append(stored, detail.Sequence)
			}
			return http.StatusOK, fmt.Sprintf(`{"Entries":[%s]}`, strings.Join(results, ","))
		})
		i := &installation.Installation{Client: db.Client, Tables: db.Tables, EventSource: "s",
			Stack: installation.Stack{Name: "s", Config: bus}}
		sent, err := i.ReplayEvents(t.Context(), eventlog.Filter{}, time.Now)
		want, text := 12, "12 events were sent, these cannot be sent: convert event 1"
		if always {
			want, text = 9, "9 events were sent, continue with --since 20"
		}
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %s", err, text)
		}
		assert.Equal(t, want, sent)
		if slices.Sort(stored); !always {
			assert.Equal(t, []int{12, 3}, []int{len(slices.Compact(stored)), calls})
		}
	}
}
