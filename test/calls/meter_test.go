package calls_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/test/meter"
)

// unitMeter records the calls of a function that receives events, with their units: "Query 0.5r". It is safe for concurrent use.
type unitMeter struct {
	mu    sync.Mutex
	calls []string
}

func (m *unitMeter) record(call meter.Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, call.API+" "+units(call))
}

// metered returns the AWS configuration of a function whose calls are counted.
func (s *service) metered(t *testing.T, m *unitMeter) aws.Config {
	t.Helper()
	client := dynamo.NewHTTPClient(s.DynamoDB.Endpoint)
	t.Cleanup(client.CloseIdleConnections)
	return aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), HTTPClient: client,
		APIOptions: meter.Options(m.record)(""),
	}
}

// summed returns the calls so far without their order, equal ones counted: "32 Query 0.5r".
func (m *unitMeter) summed() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := map[string]int{}
	for _, call := range m.calls {
		counts[call]++
	}
	var all []string
	for call, n := range counts {
		all = append(all, fmt.Sprint(n, " ", call))
	}
	slices.Sort(all)
	return all
}
