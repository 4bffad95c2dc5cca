package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/platform/dynamo"
)

// service is a running `make run`.
type service struct {
	command     *exec.Cmd
	dataDir     string
	Ready       time.Duration // from the start of the process to its line ready
	Credentials localCredentials
	client      *dynamodb.Client // of its engine, as the functions make theirs
}

// localCredentials is the part of local.json that the benchmark reads.
type localCredentials struct {
	BaseURL string `json:"baseUrl"`
	Users   []struct {
		ID  int64  `json:"id"`
		PAT string `json:"pat"`
	} `json:"users"`
	DynamoDB struct {
		Endpoint string            `json:"endpoint"`
		Tables   map[string]string `json:"tables"`
	} `json:"dynamodb"`
}

// buildLocal builds the program that `make run` runs.
func buildLocal(ctx context.Context, work string) (string, error) {
	binary := filepath.Join(work, "local")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/local").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build cmd/local: %w: %s", err, out)
	}
	return binary, nil
}

// startLocal starts the program on a data folder and waits until it is ready.
func startLocal(ctx context.Context, binary, dataDir string, variables ...string) (*service, error) {
	s := &service{dataDir: dataDir, command: exec.CommandContext(ctx, binary)}
	s.command.Env = append(append(os.Environ(), "PORT=0", "DATA_DIR="+dataDir), variables...)
	log, err := os.Create(dataDir + ".log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.command.Stderr = log
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started := time.Now()
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "ready ") {
	}
	if lines.Err() != nil || !strings.HasPrefix(lines.Text(), "ready ") {
		return nil, errors.New("the service did not become ready, see " + log.Name())
	}
	s.Ready = time.Since(started)
	go func() {
		for lines.Scan() { // keep the pipe empty
		}
	}()
	file, err := os.ReadFile(filepath.Join(dataDir, "local.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(file, &s.Credentials); err != nil {
		return nil, err
	}
	s.client, err = engineClient(s.Credentials.DynamoDB.Endpoint)
	return s, err
}

// engineConfig is the AWS configuration for an engine.
func engineConfig(endpoint string) aws.Config {
	return aws.Config{
		Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient: dynamo.NewHTTPClient(endpoint),
	}
}

func engineClient(endpoint string) (*dynamodb.Client, error) {
	return dynamo.NewClient(engineConfig(endpoint), endpoint)
}

// stop stops the service with SIGTERM.
func (s *service) stop() error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.command.Wait()
}
