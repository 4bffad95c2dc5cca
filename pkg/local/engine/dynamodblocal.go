package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// DynamoDBLocalVersion is the version of DynamoDB Local that FindDynamoDBLocal looks for: the one in the Makefile.
const DynamoDBLocalVersion = "3.0.0"

const (
	dynamoDBLocalDatabase = "shared-local-instance.db" // its own choice, with -sharedDb
	dynamoDBLocalMain     = "software.amazon.dynamodb.services.local.main.ServerRunner"

	// askTimeout bounds one look. A server that cannot open its data never answers.
	askTimeout = 2 * time.Second
)

// FindDynamoDBLocal gives AWS's own DynamoDB Local, for machines that dynoxide is not published for, and as a second opinion. It looks for
// the jars where scripts/dynamodb-local.sh puts them, in the folder and in every folder above it, and for java on the PATH. Where one is
// missing it returns ErrMissing, with what to do about it.
//
// As an engine of this package it differs from dynoxide in four points, all seen with this version. It needs seconds to start, so that a
// client's retries do not always outlast a restart. It answers a transaction before it commits it, so that a kill right then loses it; single
// writes that were answered are never lost. It listens on every address of the machine, and has no setting for it. And it lets the pages of
// every origin in a browser read it, which is switched off here.
func FindDynamoDBLocal(folder string) (Program, error) {
	jar := "DynamoDBLocal-" + DynamoDBLocalVersion + ".jar"
	path, err := above(folder, filepath.Join(".cache", "tools", "dynamodb-local-"+DynamoDBLocalVersion, jar))
	if err != nil {
		return Program{}, err
	}
	if path == "" {
		return Program{}, fmt.Errorf("%w: `make run ENGINE=dynamodb-local` gets DynamoDB Local %s, by Maven", ErrMissing, DynamoDBLocalVersion)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return Program{}, fmt.Errorf("%w: DynamoDB Local needs Java 17 or newer, and there is no java on the PATH", ErrMissing)
	}
	d := &dynamoDBLocal{lib: filepath.Dir(path), origin: "http://" + strings.ToLower(rand.Text()) + ".invalid"}
	return Program{
		Path: java, name: DynamoDBLocal, database: dynamoDBLocalDatabase, dataFlag: "-dbPath", dataIsDir: true, signature: dynamoDBLocalMain,
		remedy: "install Java 17 or newer",
		// Usual are 2 to 4 s, on a busy machine 10.
		poll: 20 * time.Millisecond, startTimeout: time.Minute, maxQuickDeaths: 3,
		arguments: d.arguments, ready: d.ready, complaint: dynamoDBLocalComplaint,
	}, nil
}

// dynamoDBLocal is one installation, and the one origin whose pages may read it. Nobody has that origin. It serves to know the process: it
// says nothing when it has the port, but an answer that allows this origin can only be ours.
type dynamoDBLocal struct{ lib, origin string }

func (d *dynamoDBLocal) arguments(port int, data string) []string {
	args := []string{
		// It starts in half the time with the quick compiler alone. The slow one pays off after minutes of load only.
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dlog4j2.configurationFile=" + filepath.Join(d.lib, "log4j2.properties"),
		"-Djava.library.path=" + d.lib, "-cp", filepath.Join(d.lib, "*"), dynamoDBLocalMain,
		"-port", strconv.Itoa(port), "-sharedDb", "-disableTelemetry", "-cors", d.origin,
	}
	if data == "" {
		return append(args, "-inMemory")
	}
	return append(args, "-dbPath", data)
}

// ready asks for the tables: with data that it cannot read it answers each request with a fault, or never.
func (d *dynamoDBLocal) ready(ctx context.Context, endpoint, output string) (bool, error) {
	if words, ofData := dynamoDBLocalComplaint(output); ofData {
		return false, fmt.Errorf("%w: %s", ErrDatabase, words[:min(len(words), maxComplaint)])
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint+"/", strings.NewReader("{}"))
	if err != nil {
		return false, fmt.Errorf("make the request: %w", err)
	}
	request.Header.Set("Origin", d.origin)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	// The signature is not verified, but its form is.
	request.Header.Set("Authorization",
		"AWS4-HMAC-SHA256 Credential=local/20200101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	// An error is that nobody listens yet. What goes wrong for good ends the child, or its start's time.
	status, header, err := ask(request)
	return err == nil && status == http.StatusOK && header.Get("Access-Control-Allow-Origin") == d.origin, nil
}

// dynamoDBLocalComplaint finds the line that matters among Java's many.
func dynamoDBLocalComplaint(output string) (words string, ofData bool) {
	if strings.Contains(output, "java.lang.UnsupportedClassVersionError") {
		return "it needs Java 17 or newer, and java on the PATH is older", false
	}
	// SQLite's errors 11, 14 and 26: the file is damaged, cannot be opened, is none of its own.
	for _, kind := range []struct {
		line   *regexp.Regexp
		ofData bool
	}{
		{regexp.MustCompile(`(?m)^com\.almworks\.sqlite4java\.SQLiteException: (\[(?:11|14|26)\].*)$`), true},
		{regexp.MustCompile(`(?m)^Caused by: (.*)$`), false},
		{regexp.MustCompile(`(?m)^(?:Exception in thread "main"|Error:) (.*)$`), false},
	} {
		if found := kind.line.FindStringSubmatch(output); found != nil {
			return found[1], kind.ofData
		}
	}
	return "", false
}
