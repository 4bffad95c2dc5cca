package eventsource_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/local/checkpoint"
	"toggleadmin/pkg/local/eventsource"
)

func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRecordsAreReadOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(0)
		for _, n := range []int{1, 9, 10, 10, 9, 11} { // 10 is after 9, though not as a text
			s.stream.insert("s", n)
		}
		s.run(t, time.Second)
		equal(t, [][]int{{1, 9, 10, 11}}, s.batches())
	})
}

func TestLatest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(3)
		s.config.Stream.StartingPosition = "LATEST"
		s.run(t, time.Second, func(m *eventsource.Mapping) {
			<-time.After(50 * time.Millisecond)
			s.stream.insert("s", 4)
			m.Nudge()
		})
		equal(t, []call{{50 * time.Millisecond, []int{4}}}, s.calls)
	})
}

func TestParentsFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(0)
		s.stream = newStream("child", "parent")
		s.config.Streams = s.stream
		s.stream.shards[0].ParentShardId = aws.String("parent")
		s.stream.shards[1].ParentShardId = aws.String("trimmed")
		s.stream.insert("child", 2)
		s.stream.insert("parent", 1)
		s.config.Checkpoint = checkpoint.File{Path: filepath.Join(t.TempDir(), "c")}
		s.run(t, time.Second)
		equal(t, [][]int{{1}}, s.batches())
		s.stream.closed["parent"] = true
		s.run(t, time.Second)
		equal(t, [][]int{{1}, {2}}, s.batches())
	})
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(1)
		s.run(t, 10*time.Second, func(*eventsource.Mapping) {
			for n, err := range []error{&types.ExpiredIteratorException{}, &types.TrimmedDataAccessException{}} {
				<-time.After(3 * time.Second)
				s.stream.mu.Lock()
				s.stream.fail = err
				if n == 1 {
					s.stream.data["s"] = nil
				}
				s.stream.mu.Unlock()
				s.stream.insert("s", n+5)
			}
		})
		equal(t, [][]int{{1}, {5}, {6}}, s.batches())
	})
}

func TestBatchSize(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(5)
		s.config.Stream.BatchSize = 2
		s.run(t, time.Second)
		equal(t, []call{{0, []int{1, 2}}, {0, []int{3, 4}}, {0, []int{5}}}, s.calls)
		if s.stream.reads > 12 {
			t.Errorf("%d reads in a second", s.stream.reads)
		}
	})
}

func TestBatchingWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(1)
		s.config.Stream.BatchSize = 3
		s.config.Stream.BatchingWindow = 2 * time.Second
		s.run(t, 10*time.Second, func(m *eventsource.Mapping) {
			<-time.After(time.Second)
			s.stream.insert("s", 2)
			<-time.After(3 * time.Second)
			for n := range 3 {
				s.stream.insert("s", n+3)
			}
			m.Nudge()
		})
		equal(t, []call{{2 * time.Second, []int{1, 2}}, {4 * time.Second, []int{3, 4, 5}}}, s.calls)
	})
}

func TestBatchBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(0)
		for n := range 20 {
			s.stream.insert("s", n+1)
			s.stream.data["s"][n].Dynamodb.NewImage = map[string]types.AttributeValue{
				"large": &types.AttributeValueMemberS{Value: strings.Repeat("a", 400_000)},
			}
		}
		s.run(t, time.Second)
		if len(s.calls) != 2 || len(s.payloads[0]) > 6<<20 || len(s.payloads[0]) < 5<<20 {
			t.Errorf("batches %v", s.batches())
		}
	})
}

func TestLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(40)
		s.config.Stream.ParallelizationFactor = 4
		s.config.Stream.BatchSize = 1
		s.config.Checkpoint = checkpoint.File{Path: filepath.Join(t.TempDir(), "c")}
		var busy, most int
		s.answer = func(records []int) (string, error) {
			s.mu.Lock()
			busy++
			most = max(most, busy)
			s.mu.Unlock()
			<-time.After(time.Millisecond)
			s.mu.Lock()
			busy--
			s.mu.Unlock()
			if records[0] == 3 { // its lane goes no further
				return "", errFunction
			}
			return "", nil
		}
		s.run(t, time.Second)
		if most != 4 {
			t.Errorf("%d lanes at once", most)
		}
		before := len(s.calls)
		s.answer = func([]int) (string, error) { return "", nil }
		s.run(t, time.Second)
		again := s.batches()[before:]
		slices.SortFunc(again, slices.Compare[[]int])
		if len(again) != 38 || again[0][0] != 3 { // 1 and 2 are done; the slowest lane counts
			t.Errorf("after the restart %v", again)
		}
	})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, answer string
		again        []int // of 1 to 4
	}{
		{"nothing", "", nil},
		{"null", "null", nil},
		{"empty object", "{}", nil},
		{"null list", `{"batchItemFailures":null}`, nil},
		{"empty list", `{"batchItemFailures":[]}`, nil},
		{"one", failing(sequence(3)), []int{3, 4}},
		{"the lowest counts", failing(sequence(4), sequence(2), sequence(3)), []int{2, 3, 4}},
		{"empty identifier", failing(sequence(4), ""), []int{1, 2, 3, 4}},
		{"null identifier", `{"batchItemFailures":[{"itemIdentifier":null}]}`, []int{1, 2, 3, 4}},
		{"missing identifier", `{"batchItemFailures":[{"id":"x"}]}`, []int{1, 2, 3, 4}},
		{"unknown identifier", failing("3"), []int{1, 2, 3, 4}},
		{"no JSON", `oops`, []int{1, 2, 3, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSetup(4)
				s.config.Stream.ReportFailures = true
				s.answer = func([]int) (string, error) {
					if len(s.calls) > 1 {
						return "", nil
					}
					return tt.answer, nil
				}
				s.run(t, time.Second)
				want := [][]int{{1, 2, 3, 4}}
				if tt.again != nil {
					want = append(want, tt.again)
				}
				equal(t, want, s.batches())
				if tt.name != "one" {
					return
				}
				s = newSetup(4) // and without ReportBatchItemFailures
				s.answer = func([]int) (string, error) { return tt.answer, nil }
				s.run(t, time.Second)
				equal(t, want[:1], s.batches())
			})
		})
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(3)
		s.config.Stream.BatchSize = 2
		s.config.Stream.RetryAttempts = 3
		var log bytes.Buffer
		s.config.Logger = slog.New(slog.NewTextHandler(&log, nil))
		s.answer = func(records []int) (string, error) {
			if records[0] == 1 {
				return "", errFunction
			}
			return "", nil
		}
		s.run(t, time.Minute)
		if said := strings.Count(log.String(), `"stream records will be delivered again" table=Things records=2`); said != 3 {
			t.Errorf("the log says %d times why nothing happens:\n%s", said, &log)
		}
		const ms = time.Millisecond
		first := []int{1, 2}
		equal(t, []call{{0, first}, {200 * ms, first}, {600 * ms, first}, {1400 * ms, first}, {1400 * ms, []int{3}}}, s.calls)
		s = newSetup(1)
		s.answer = func([]int) (string, error) { return "", errFunction }
		s.run(t, time.Hour)
		if n := len(s.calls); n < 120 || n > 140 {
			t.Errorf("%d calls in an hour", n)
		}
	})
}

func TestRecordAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(1)
		s.config.Stream.RecordAge = time.Minute
		s.answer = func(records []int) (string, error) {
			if records[0] == 1 {
				return "", errFunction
			}
			return "", nil
		}
		s.run(t, 3*time.Minute, func(*eventsource.Mapping) {
			<-time.After(50 * time.Second)
			s.stream.insert("s", 2)
		})
		last := s.calls[len(s.calls)-1]
		if last.Records[0] != 2 || last.At < time.Minute || last.At > 2*time.Minute {
			t.Errorf("calls %v", s.calls)
		}
		if len(s.given) != 1 || !strings.Contains(fmt.Sprint(s.given[0]["requestContext"]), "condition:RecordAgeExceeded") {
			t.Errorf("given up: %v", s.given)
		}
	})
}

func TestBisect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(6)
		s.config.Stream.Bisect = true
		s.config.Stream.RetryAttempts = 1
		s.answer = func(records []int) (string, error) {
			if slices.Contains(records, 5) {
				return "", errFunction
			}
			return "", nil
		}
		s.run(t, time.Minute)
		equal(t, [][]int{{1, 2, 3, 4, 5, 6}, {1, 2, 3}, {4, 5, 6}, {4, 5}, {4}, {5}, {5}, {6}}, s.batches())
		equal(t, 1, len(s.given))
	})
}

func TestBisectAtTheReportedNumber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(6)
		s.config.Stream.Bisect = true
		s.config.Stream.ReportFailures = true
		s.config.Stream.RetryAttempts = 0
		s.answer = func(records []int) (string, error) {
			if slices.Contains(records, 3) {
				return failing(sequence(3)), nil
			}
			return "", nil
		}
		s.run(t, time.Minute)
		equal(t, [][]int{{1, 2, 3, 4, 5, 6}, {3, 4, 5, 6}, {3, 4}, {3}, {4}, {5, 6}}, s.batches())
	})
}

func TestOnFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(2)
		s.config.Stream.RetryAttempts = 0
		s.answer = func([]int) (string, error) { return "", errFunction }
		s.run(t, time.Second)
		arrival, now := s.begin.UTC().Format(time.RFC3339), s.begin.UTC().Format("2006-01-02T15:04:05.000Z")
		equal(t, []map[string]any{{
			"requestContext": map[string]any{
				"requestId": "call-1", "functionArn": "arn:function", "condition": "RetryAttemptsExhausted", "approximateInvokeCount": 1.0,
			},
			"responseContext": map[string]any{"statusCode": 200.0, "executedVersion": "$LATEST", "functionError": "Unhandled"},
			"version":         "1.0", "timestamp": now,
			"DDBStreamBatchInfo": map[string]any{
				"shardId": "s", "startSequenceNumber": sequence(1), "endSequenceNumber": sequence(2), "batchSize": 2.0, "streamArn": "arn:aws",
				"approximateArrivalOfFirstRecord": arrival, "approximateArrivalOfLastRecord": arrival,
			},
		}}, s.given)
	})
}

func TestStopInTheMiddle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(2)
		s.config.Stream.BatchSize, s.config.Stream.RetryAttempts = 1, 0
		s.config.Checkpoint = checkpoint.File{Path: filepath.Join(t.TempDir(), "c")}
		var once sync.Once
		s.answer = func(records []int) (string, error) {
			err := error(nil)
			if records[0] == 2 {
				once.Do(func() { err = errStop })
			}
			return "", err
		}
		s.run(t, time.Second)
		s.run(t, time.Second)
		s.run(t, time.Second)
		equal(t, [][]int{{1}, {2}, {2}}, s.batches())
	})
}
