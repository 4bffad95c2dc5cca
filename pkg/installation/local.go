package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"toggleadmin/pkg/dynamo"
	"toggleadmin/pkg/outcome"
)

// answerTime is how long a service on this machine may take to answer at all.
const answerTime = 5 * time.Second

// localJSON is what is read of DATA_DIR/local.json, which `make run` writes.
type localJSON struct {
	BaseURL  string `json:"baseUrl"`
	DynamoDB struct {
		Endpoint string            `json:"endpoint"`
		Tables   map[string]string `json:"tables"`
	} `json:"dynamodb"`
}

// OpenLocal opens the service that runs on this machine with its data in the folder. It must be running: its engine ends with it.
func OpenLocal(ctx context.Context, dir string) (*Installation, error) {
	file := filepath.Join(dir, "local.json")
	content, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, outcome.New(outcome.Unreachable, "there is no %s: start the service by `make run`, or name the folder of its data by --data-dir", file)
	case err != nil:
		return nil, outcome.New(outcome.Unreachable, "%s cannot be read: %v", file, err)
	}
	var found localJSON
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, outcome.New(outcome.Unreachable, "%s is damaged: restart `make run`, which writes it anew: %v", file, err)
	}
	for _, id := range dynamo.TableIDs() {
		if found.DynamoDB.Tables[id] == "" {
			return nil, outcome.New(outcome.Unreachable, "%s names no table %s: restart `make run`, which writes it anew", file, id)
		}
	}
	if !answers(ctx, found.BaseURL) {
		return nil, outcome.New(outcome.Unreachable,
			"nothing answers at %s, where %s says that the service is: start it by `make run`", found.BaseURL, file)
	}
	endpoint := found.DynamoDB.Endpoint
	client, err := dynamo.NewClient(aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(endpoint),
	}, endpoint)
	if err != nil {
		return nil, fmt.Errorf("make the DynamoDB client: %w", err)
	}
	return &Installation{
		Name: "the local service at " + found.BaseURL, Option: "--local", BaseURL: found.BaseURL, Tables: dynamo.TablesByID(found.DynamoDB.Tables),
		TokenLimit: usualTokenLimit, Client: client,
	}, nil
}

// answers says whether anything speaks HTTP there. The root is no API's path, so the request is in no report of usage.
func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/", nil)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // without a proxy: it is this machine
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return true
}
