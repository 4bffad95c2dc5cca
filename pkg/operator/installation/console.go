package installation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"toggleadmin/pkg/operator/exitstatus"
)

const (
	// codeTimeout is how long the local service may take to make a code.
	codeTimeout = 10 * time.Second
	// maxCodeResponse is the maximum number of bytes of its response, after decompression.
	maxCodeResponse = 64 << 10
)

// AdminToken returns the token of the admin of the local service, or "".
func (i *Installation) AdminToken() string { return i.adminToken }

// ConsoleURL returns the URL of the console. That of the local service signs the admin in, once and within ten minutes.
// It replaces the URLs that were printed before.
func (i *Installation) ConsoleURL(ctx context.Context) (string, error) {
	address := i.BaseURL + "/console/"
	if !i.IsLocal() {
		return address, nil
	}
	ctx, cancel := context.WithTimeout(ctx, codeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, i.BaseURL+"/local/sign-in-codes", http.NoBody)
	if err != nil {
		return "", fmt.Errorf("request a code for the console: %w", err)
	}
	request.Header.Set("Authorization", i.adminToken)
	response, err := (&http.Client{Timeout: codeTimeout}).Do(request)
	if err != nil {
		return "", fmt.Errorf("request a code for the console: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusUnauthorized {
		return "", exitstatus.Errorf(exitstatus.Rejected, "the admin cannot sign in at %s: the account was deleted or "+
			"disabled after the service was set up", address)
	}
	var body struct{ Code string }
	err = json.NewDecoder(io.LimitReader(response.Body, maxCodeResponse)).Decode(&body)
	if err != nil || body.Code == "" {
		return "", exitstatus.Errorf(exitstatus.Failure, "%s responds with %s, without a code for the console: restart `make "+
			"run`", i.BaseURL, response.Status)
	}
	return address + "#code=" + body.Code, nil
}
