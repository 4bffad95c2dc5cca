package trigger_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toggleadmin/test/helper/assert"
)

// TestStream interrupts the second invocation, which is repeated after the next start.
func TestStream(t *testing.T) {
	t.Parallel()
	inBubble(t, "stream 5 0", streamed(t, 11), func(h *harness) {
		h.responses = []string{"", "1m", ""}
		h.run(time.Second)
		assert.Equal(h, time.Second+drain, time.Since(h.begin))
		h.run(time.Second)
		assert.Equal(h, []string{"0s 1,2,3,4,5", "0s 6,7,8,9,10", "2s 6,7,8,9,10", "2s 11"}, h.invocations)
		assert.Equal(h, `{"Records":[{"awsRegion":"eu-west-1","dynamodb":{"ApproximateCreationDateTime":,`+
			`"Keys":{"id":{"S":"release"}},"NewImage":{"id":{"S":"release"},"n":{"N":"11"}},"OldImage":{"id":{"S":"release"},"n":{"N":"10"}},`+
			`"SequenceNumber":"#1","SizeBytes":,"StreamViewType":"NEW_AND_OLD_IMAGES"},"eventID":"","eventName":"MODIFY",`+
			`"eventSource":"aws:dynamodb","eventVersion":"1.1",`+
			`"eventSourceARN":"arn:aws:dynamodb:eu-west-1:123456789012:table/"}]}`, h.payloads[3])
	})
}

// TestStreamFilter checks that only records of the kinds in the template are delivered.
func TestStreamFilter(t *testing.T) {
	t.Parallel()
	inBubble(t, "stream 5 0", streamed(t, 3), func(h *harness) {
		h.config.Template.Functions[0].Streams[0].EventNames = []string{"INSERT"}
		h.run(time.Second)
		assert.Equal(h, []string{"0s 1"}, h.invocations)
	})
}

// A checkpoint that a power failure has cut does not stop the delivery. One of another stream has no effect.
func TestStreamCheckpoints(t *testing.T) {
	t.Parallel()
	db := streamed(t, 1)
	for content, valid := range map[string]bool{
		"": false, `{"shard":"a","sequenceNu`: false, `{"shard":"of another stream","sequenceNumber":"99"}`: true,
	} {
		inBubble(t, "stream 5 0", db, func(h *harness) {
			checkpoint := filepath.Join(h.dir, "events", "stream-DoThings-FeatureTypes.json")
			assert.OK(h, os.WriteFile(checkpoint, []byte(content), 0o600))
			h.run(time.Second)
			assert.Equal(h, []string{"0s 1"}, h.invocations)
			assert.Equal(h, valid, !strings.Contains(h.log.String(), "the checkpoint of a stream is not valid"))
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestStreamUnreadable(t *testing.T) {
	t.Parallel()
	inBubble(t, "stream 5 0", streamed(t, 1), func(h *harness) {
		calls, working := map[string]int{}, h.config.AWS.HTTPClient
		h.config.AWS.HTTPClient = transport(func(r *http.Request) (*http.Response, error) {
			_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
			calls[operation]++
			if operation == "GetRecords" && calls[operation] <= 3 { // as often as the SDK tries
				return nil, errors.New("connection lost")
			}
			return working.Do(r)
		})
		h.run(10 * time.Second)
		assert.Equal(h, 1, len(h.invocations))
		assert.Equal(h, 2, calls["GetShardIterator"])
		h.logged("stream records are not delivered, trying again")
	})
}
