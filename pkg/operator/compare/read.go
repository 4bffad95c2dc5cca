package compare

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/loopback"
	"toggleadmin/pkg/toggle"
)

const (
	// specVersion is the version of the client specification that the engine implements. Unleash sends segments apart from
	// the strategies that use them only to clients that name it.
	specVersion = "5.2.0"
	maxResponse = 100 << 20 // bytes
)

// CheckURL returns an error unless a text is the URL of an installation.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return exitstatus.Errorf(exitstatus.Usage, "%q is not the URL of an installation: use one such as "+
			"https://unleash.example.com", text)
	}
	return nil
}

// IsPlain reports whether a token would be sent to a URL in plain text over a network.
func IsPlain(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "http" && !loopback.IsHost(u.Hostname())
}

// Download returns what a backend token sees at the URL of an installation. client must not follow redirects, so that the
// token stays there.
func Download(ctx context.Context, client *http.Client, address, token string) (d evaluation.Document, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return d, err
	}
	u = u.JoinPath("api/client/features")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return d, err
	}
	r.Header.Set("Authorization", token)
	r.Header.Set("Unleash-Client-Spec", specVersion)
	r.Header.Set("Unleash-Appname", "toggleadmin-compare")
	response, err := client.Do(r)
	if err != nil {
		return d, exitstatus.Errorf(exitstatus.Unreachable, "%s cannot be reached: %v", u.Host, err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return d, exitstatus.Errorf(exitstatus.Denied, "%s refuses the token (status %d): it must be one of a backend "+
			"application", u.Host, response.StatusCode)
	default:
		return d, exitstatus.Errorf(exitstatus.Failure, "%s responds with %s to GET %s", u.Host, response.Status, u.Path)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return d, exitstatus.Errorf(exitstatus.Unreachable, "the response of %s broke off: %v", u.Host, err)
	}
	if err := json.Unmarshal(text, &d); err != nil || d.Features == nil {
		return d, exitstatus.Errorf(exitstatus.Failure, "%s does not respond as Unleash does to GET %s", u.Host, u.Path)
	}
	for i := range d.Features {
		for j := range d.Features[i].Strategies {
			s := &d.Features[i].Strategies[j]
			trimValues(s.Constraints)
			setGroup(s)
		}
	}
	for _, s := range d.Segments {
		trimValues(s.Constraints)
	}
	return d, nil
}

// setGroup makes the missing group of a rollout of an old type empty, as the SDK for Node.js and the import do. Other engines
// do not evaluate such a strategy.
func setGroup(s *evaluation.Strategy) {
	if s.Name != toggle.StrategyGradualRolloutUserID && s.Name != toggle.StrategyGradualRolloutSessionID {
		return
	}
	if _, ok := s.Parameters[toggle.ParameterGroupID]; !ok && s.Parameters != nil {
		s.Parameters[toggle.ParameterGroupID] = ""
	}
}

// trimValues removes the white space around the values of lists, and empty ones, as the SDK for Node.js does.
func trimValues(constraints []toggle.Constraint) {
	for i := range constraints {
		values := constraints[i].Values
		for j := range values {
			values[j] = strings.TrimSpace(values[j])
		}
		constraints[i].Values = slices.DeleteFunc(values, func(value string) bool { return value == "" })
	}
}

// ReadContexts reads contexts, one JSON object in each line. The values of fields are strings. The fields of a member
// properties are read as those beside it, as Unleash's SDKs have them. name is that of the file, for errors.
func ReadContexts(name string, file io.Reader) (all []Fields, err error) {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		fields := Fields{}
		if err := fields.read(lines.Bytes()); err != nil {
			return nil, exitstatus.Errorf(exitstatus.Usage, "%s:%d: %v", name, n, err)
		}
		all = append(all, fields)
	}
	if err := lines.Err(); err != nil {
		return nil, exitstatus.Errorf(exitstatus.Usage, "%s: %v", name, err)
	}
	if len(all) == 0 {
		return nil, exitstatus.Errorf(exitstatus.Usage, "%s has no context: write a JSON object in each line", name)
	}
	return all, nil
}

// read adds the fields of a JSON object.
func (f Fields) read(text []byte) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return errors.New(`not a JSON object such as {"userId":"7"}`)
	}
	for name, value := range members {
		if name == "properties" {
			if err := f.read(value); err != nil {
				return err
			}
			continue
		}
		var field string
		if json.Unmarshal(value, &field) != nil {
			return fmt.Errorf("the value of %q is no string", name)
		}
		f[name] = field
	}
	return nil
}
