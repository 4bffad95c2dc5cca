package installation_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
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
		for range 12 {
			if _, err := user.NewStore(db.Client, db.Tables, db.Log()).Add(t.Context(),
				user.User{Kind: user.Person, Name: "n"}); err != nil {
				t.Fatal(err)
			}
		}
		assert.OK(t, db.Log().Write(t.Context(), func() ([]types.TransactWriteItem, error) {
			_, record, err := db.Log().Record(t.Context(), eventlog.Change{Type: eventlog.FeatureTypeUpdated, Subject: "type:x"})
			return record, err
		}, nil))
		var stored []string // the ids of events in the log
		calls := 0
		i := &installation.Installation{Client: db.Client, Tables: db.Tables, EventSource: "s",
			Stack: installation.Stack{Name: "s", Config: aws.Config{
				Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
				HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
					var request struct{ Entries []struct{ Detail string } }
					if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
						return nil, err
					}
					calls++
					results := make([]string, len(request.Entries))
					for k, e := range request.Entries {
						var detail struct{ Sequence string }
						if err := json.Unmarshal([]byte(e.Detail), &detail); err != nil {
							return nil, err
						}
						if results[k] = `{"EventId":"1"}`; k == 1 && calls == 1 || k == 0 && always {
							results[k] = `{"ErrorCode":"ThrottlingException"}`
							continue
						}
						stored = append(stored, detail.Sequence)
					}
					body := fmt.Sprintf(`{"Entries":[%s]}`, strings.Join(results, ","))
					return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)),
						Header: http.Header{}}, nil
				})},
			}}}
		sent, err := i.ReplayEvents(t.Context(), eventlog.Filter{}, time.Now)
		if always {
			if sent != 9 || err == nil || !strings.HasPrefix(err.Error(), "9 events were sent, continue with --since 20") {
				t.Errorf("sent %d, %v", sent, err)
			}
			continue
		}
		slices.Sort(stored)
		if stored = slices.Compact(stored); sent != 12 || err == nil ||
			!strings.Contains(err.Error(), "12 events were sent, these cannot be sent: convert event 1") ||
			len(stored) != 12 || calls != 3 {
			t.Errorf("sent %d, stored %d in %d calls, %v", sent, len(stored), calls, err)
		}
	}
}
