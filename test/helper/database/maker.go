package database

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/local/tables"
	"toggleadmin/pkg/samtemplate"
)

// maker creates tables. Most tests use a few of them.
type maker struct {
	client *dynamodb.Client

	mu     sync.Mutex
	tables []samtemplate.Table // that are not created yet
}

// makingTransport sends requests after the tables that they name have been created.
type makingTransport struct {
	http.RoundTripper
	*maker
}

func (t makingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := t.make(context.WithoutCancel(r.Context()), body); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return t.RoundTripper.RoundTrip(r)
}

// make creates the tables whose names are in the body of a request.
func (m *maker) make(ctx context.Context, body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	isNamed := func(t samtemplate.Table) bool { return bytes.Contains(body, []byte(`"`+t.Name+`"`)) }
	for i := slices.IndexFunc(m.tables, isNamed); i >= 0; i = slices.IndexFunc(m.tables, isNamed) {
		if err := tables.Make(ctx, m.client, m.tables[i:i+1]); err != nil {
			return err
		}
		m.tables = slices.Delete(m.tables, i, i+1)
	}
	return nil
}
