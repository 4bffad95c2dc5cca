package trigger_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/local/trigger"
	"toggleadmin/test/assert"
	"toggleadmin/test/table"
)

func TestStream(t *testing.T) {
	t.Parallel()
	db := streamed(t)
	dir := t.TempDir()
	put(t, db, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11)
	inBubble(t, onStream(5, 0), db, func(h *harness) {
		h.dir = dir
		checkpoint := filepath.Join(dir, "events", "stream-DoThings-FeatureTypes.json")
		assert.OK(h, errors.Join(os.Mkdir(filepath.Dir(checkpoint), 0o700),
			os.WriteFile(checkpoint, []byte(`{"shard":"of another stream","sequenceNumber":"99"}`), 0o600)))
		h.run(time.Second)
		assert.Equal(h, []string{"1,2,3,4,5", "6,7,8,9,10", "11"}, h.records())
		r := decode[events.DynamoDBEvent](h, h.invocations[1].Payload).Records[0]
		want := "MODIFY aws:dynamodb 1.1 eu-west-1 arn:aws:dynamodb:eu-west-1:123456789012:table/" + db.Tables.FeatureTypes +
			"/stream/"
		got := strings.Join([]string{r.EventName, r.EventSource, r.EventVersion, r.AWSRegion, r.EventSourceArn}, " ")
		if !strings.HasPrefix(got, want) || r.EventID == "" || r.Change.OldImage["n"].Number() != "5" ||
			r.Change.Keys["id"].String() != "release" ||
			r.Change.StreamViewType != "NEW_AND_OLD_IMAGES" || r.Change.SizeBytes == 0 ||
			r.Change.ApproximateCreationDateTime.IsZero() {
			h.Errorf("%+v", r)
		}
	})
	put(t, db, 12)
	inBubble(t, onStream(5, 0), db, func(h *harness) {
		h.dir = dir
		h.run(time.Second)
		assert.Equal(h, []string{"12"}, h.records())
	})
}

// A checkpoint that a power failure has cut does not stop the delivery.
func TestStreamCheckpointNotValid(t *testing.T) {
	t.Parallel()
	db := streamed(t)
	put(t, db, 1)
	for _, content := range []string{"", `{"shard":"a","sequenceNu`} {
		inBubble(t, onStream(5, 0), db, func(h *harness) {
			checkpoint := filepath.Join(h.dir, "events", "stream-DoThings-FeatureTypes.json")
			assert.OK(h, errors.Join(os.MkdirAll(filepath.Dir(checkpoint), 0o700),
				os.WriteFile(checkpoint, []byte(content), 0o600)))
			h.run(time.Second)
			assert.Equal(h, []string{"1"}, h.records())
			if !strings.Contains(h.log.String(), "the checkpoint of a stream is not valid") {
				h.Errorf("log:\n%s", &h.log)
			}
		})
	}
}

func TestStreamResponses(t *testing.T) {
	t.Parallel()
	db := streamed(t)
	put(t, db, 1, 2, 3)
	for _, row := range table.Rows(t, 2, `
		# response to the first invocation | records of a second one
		|
		null |
		{"batchItemFailures": null} |
		{"batchItemFailures": [{"itemIdentifier": "S1"}]} | 1,2,3
		{"batchItemFailures": [{"itemIdentifier": "S3"}]} | 3
		{"batchItemFailures": [{"itemIdentifier": "S3"}, {"itemIdentifier": "S2"}, {"itemIdentifier": "S3"}]} | 2,3
		{"batchItemFailures": [{"itemIdentifier": ""}]} | 1,2,3
		{"batchItemFailures": [{"itemIdentifier": "S3"}, {"itemIdentifier": "x"}]} | 1,2,3
		failed | 1,2,3
	`) {
		inBubble(t, onStream(3, 5), db, func(h *harness) {
			h.respond = func(payload []byte) ([]byte, error) {
				if len(h.invocations) > 1 {
					return nil, nil
				}
				response := row[0]
				for i, r := range decode[events.DynamoDBEvent](h, payload).Records {
					response = strings.ReplaceAll(response, fmt.Sprintf("S%d", i+1), r.Change.SequenceNumber)
				}
				return []byte(response), nil
			}
			h.run(10 * time.Second)
			assert.Equal(h, strings.Fields("1,2,3 "+row[1]), h.records())
		})
	}
}

func TestStreamInterrupted(t *testing.T) {
	t.Parallel()
	db := streamed(t)
	put(t, db, 1)
	inBubble(t, onStream(5, 0), db, func(h *harness) {
		h.respond = func([]byte) ([]byte, error) { <-time.After(time.Minute); return nil, nil }
		h.run(time.Second)
		if ran := time.Since(h.begin); ran != time.Second+drain {
			h.Errorf("it ended after %s, want one second of work and then %s", ran, drain)
		}
		h.respond = nil
		h.run(time.Second)
		assert.Equal(h, []string{"1", "1"}, h.records())
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestStreamUnreadable(t *testing.T) {
	t.Parallel()
	db := streamed(t)
	put(t, db, 1)
	inBubble(t, onStream(5, 0), db, func(h *harness) {
		reads, iterators, working := 0, 0, h.config.AWS.HTTPClient
		h.config.AWS.HTTPClient = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			switch target := r.Header.Get("X-Amz-Target"); {
			case strings.HasSuffix(target, ".GetShardIterator"):
				iterators++
			case strings.HasSuffix(target, ".GetRecords"):
				if reads++; reads <= 3 { // as often as the SDK tries
					return nil, errors.New("connection lost")
				}
			}
			return working.Do(r)
		})}
		h.run(time.Minute)
		assert.Equal(h, []string{"1"}, h.records())
		if iterators != 2 || !strings.Contains(h.log.String(), "stream records are not delivered, trying again") {
			h.Errorf("%d iterators, log:\n%s", iterators, &h.log)
		}
	})
}

func TestUnsupported(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]samtemplate.Function{
		"queue Jobs: the local service supports only queues that are targets of a rule": {
			Queues: []samtemplate.QueueMapping{{Queue: "Jobs"}},
		},
		"subscribes to log group Other: the local service supports only the log group of the access log, AccessLogs": {
			LogSubscriptions: []samtemplate.LogSubscription{{LogGroup: "Other"}},
		},
	} {
		inBubble(t, f, nil, func(h *harness) {
			h.openBus(samtemplate.Template{})
			if _, err := trigger.New(h.config); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}
