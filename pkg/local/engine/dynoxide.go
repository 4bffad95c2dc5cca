package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Version is the version of dynoxide that Start accepts: the one in package.json.
const Version = "1.2.1"

const (
	dynoxideDatabase = "dynamodb.db"

	// npmPackage holds the program for the one platform that it is published and tested for.
	npmPackage = "@dynoxide/linux-x64"
)

// Find gives dynoxide, the default engine. As npm does, it looks into node_modules of the folder and of every folder above it. Where
// there is none it returns ErrMissing, with what to do about it.
func Find(folder string) (Program, error) {
	path, err := above(folder, filepath.Join("node_modules", filepath.FromSlash(npmPackage), "dynoxide"))
	if err != nil {
		return Program{}, err
	}
	if path == "" {
		return Program{}, fmt.Errorf("%w: run `npm ci` (Linux x86_64; elsewhere use ENGINE=dynamodb-local)", ErrMissing)
	}
	return Program{
		Path: path, name: Dynoxide, database: dynoxideDatabase, dataFlag: "--db-path", signature: "dynoxide",
		remedy: "run `npm ci` to get it anew",
		// Usual are 3 to 25 ms, with a million items 0.2 s. The row of deaths ends after about 1.3 s of waiting in all.
		poll: time.Millisecond, startTimeout: 10 * time.Second, maxQuickDeaths: 8,
		arguments: dynoxideArguments, ready: dynoxideReady, complaint: dynoxideComplaint,
	}, nil
}

func dynoxideArguments(port int, data string) []string {
	args := []string{"serve", "--host", "127.0.0.1", "--port", strconv.Itoa(port)}
	if data != "" {
		args = append(args, "--db-path", data)
	}
	return args
}

// dynoxideReady waits for the line on its standard error, which comes after it has the port and proves that this child has it, and then
// asks for its version.
func dynoxideReady(ctx context.Context, endpoint, output string) (bool, error) {
	if !strings.Contains(output, "listening on "+endpoint) {
		return false, nil
	}
	version, err := askVersion(ctx, endpoint)
	if err != nil {
		return false, fmt.Errorf("ask the engine for its version: %w", err)
	}
	if version != Version {
		return false, fmt.Errorf("the engine is version %q instead of %q: run `npm ci`", version, Version)
	}
	return true, nil
}

func askVersion(ctx context.Context, endpoint string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/", http.NoBody)
	if err != nil {
		return "", fmt.Errorf("make the request: %w", err)
	}
	_, header, err := ask(request)
	return header.Get("X-Dynoxide-Version"), err
}

// ask sends one request, on a connection of its own, and reads the answer to its end.
func ask(request *http.Request) (status int, header http.Header, err error) {
	transport := &http.Transport{DisableKeepAlives: true} // no proxy: it is on this machine
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, nil, fmt.Errorf("send the request: %w", err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxLog))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return 0, nil, fmt.Errorf("read the answer: %w", err)
	}
	return response.StatusCode, response.Header, nil
}

// dynoxideComplaint is its last line. It ends by itself for its data only, or for its port, which the caller finds out.
func dynoxideComplaint(output string) (words string, ofData bool) {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	words, _ = strings.CutPrefix(lines[len(lines)-1], "error: ")
	if words == lines[len(lines)-1] {
		words = ""
	}
	return words, true
}
