package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"toggleadmin/test/issuer"
	"toggleadmin/test/runtimeapi"
)

const (
	forgedTokens = 10_000
	floodLength  = 30 * time.Second
	flooders     = 8
	otherCallers = 4
)

// measureSignIn measures what an OpenID Connect issuer costs the authorizer, and a flood of tokens with forged key ids.
func measureSignIn(ctx context.Context, o options, work string) error {
	folder, err := buildFunctions(ctx, work)
	if err != nil {
		return err
	}
	local, err := buildLocal(ctx, work)
	if err != nil {
		return err
	}
	data, err := os.MkdirTemp(memoryFolder(), "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data) //nolint:errcheck // a temporary folder
	plain := issuer.Start(false)
	defer plain.Close()
	s, err := startLocal(ctx, local, filepath.Join(data, "signin"),
		"OIDC_ISSUER="+plain.URL, "OIDC_CLIENT_ID="+issuer.ClientID, "OIDC_DEFAULT_ROLE=Viewer")
	if err != nil {
		return err
	}
	defer s.stop() //nolint:errcheck // the measurement is complete
	if err := compareAuthorizers(ctx, o, folder, work, s); err != nil {
		return err
	}
	return measureFlood(ctx, s, plain)
}

// authorizers are the functions that compareAuthorizers compares, with https for the issuer.
func authorizers(o options, folder, work string, s *service, i *issuer.Issuer) (names []string,
	functions map[string]runtimeapi.Function, err error) {
	certificate := filepath.Join(work, "issuer.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
	if err := os.WriteFile(certificate, block, 0o600); err != nil {
		return nil, nil, err
	}
	tables := s.Credentials.DynamoDB.Tables
	variables := func(more map[string]string) map[string]string {
		v := map[string]string{
			"DYNAMODB_ENDPOINT": s.Credentials.DynamoDB.Endpoint, "USERS_TABLE": tables["Users"],
			"IDENTIFIERS_TABLE":            tables["Identifiers"],
			"API_TOKENS_TABLE":             tables["ApiTokens"],
			"PERSONAL_ACCESS_TOKENS_TABLE": tables["PersonalAccessTokens"],
		}
		maps.Copy(v, more)
		return v
	}
	configured := map[string]string{
		"OIDC_ISSUER": i.URL, "OIDC_CLIENT_ID": issuer.ClientID, "OIDC_DEFAULT_ROLE": "Viewer", "SSL_CERT_FILE": certificate,
	}
	binary := filepath.Join(folder, "authorizer")
	names = []string{"without issuer", "with issuer"}
	functions = map[string]runtimeapi.Function{
		"without issuer": {Binary: binary, Variables: variables(nil), Timeout: 3 * time.Second},
		"with issuer":    {Binary: binary, Variables: variables(configured), Timeout: 3 * time.Second},
	}
	if o.Before != "" {
		names = append([]string{"before"}, names...)
		functions["before"] = runtimeapi.Function{Binary: o.Before, Variables: variables(nil), Timeout: 3 * time.Second}
	}
	return names, functions, nil
}

// authorization returns the sample event of the authorizer with a credential.
func authorization(credential string) ([]byte, error) {
	file, err := os.ReadFile(filepath.Join("events", "authorizer.json"))
	if err != nil {
		return nil, err
	}
	var event map[string]any
	if err := json.Unmarshal(file, &event); err != nil {
		return nil, err
	}
	event["headers"], event["multiValueHeaders"] = map[string]string{"authorization": credential},
		map[string][]string{"authorization": {credential}}
	return json.Marshal(event)
}

func compareAuthorizers(ctx context.Context, o options, folder, work string, s *service) error {
	secure := issuer.Start(true)
	defer secure.Close()
	names, functions, err := authorizers(o, folder, work, s, secure)
	if err != nil {
		return err
	}
	pat, err := authorization(s.Credentials.Users[0].PAT)
	if err != nil {
		return err
	}
	next, response := map[string][]time.Duration{}, map[string][]time.Duration{}
	for range starts {
		for _, name := range names {
			n, r, err := startOnce(ctx, functions[name], pat)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			next[name], response[name] = append(next[name], n), append(response[name], r)
		}
	}
	base := names[0]
	var rows [][]string
	for _, name := range names {
		info, err := os.Stat(functions[name].Binary)
		if err != nil {
			return err
		}
		rows = append(rows, []string{
			name, milliseconds(median(next[name])), ratio(median(next[name]), median(next[base])),
			milliseconds(median(response[name])),
			ratio(median(response[name]), median(response[base])), fmt.Sprintf("%.2f", float64(info.Size())/1e6),
		})
	}
	printTable("The authorizer and an OpenID Connect issuer",
		fmt.Sprintf("Start → first `/next`, and → first response to a PAT; median of %d starts in turn. Goals: ratio 1.05,"+
			" 0.6 MB more than before. "+
			"The issuer was asked %d times.", starts, secure.Fetches(issuer.MetadataPath)+secure.Fetches(issuer.KeysPath)),
		[]string{"authorizer", "→ next ms", "ratio", "→ response ms", "ratio", "size MB"}, rows)
	return compareCPU(ctx, functions["with issuer"], secure, pat)
}

// compareCPU compares the processor time of a JWT whose key is known with that of a PAT, in the same process.
func compareCPU(ctx context.Context, f runtimeapi.Function, i *issuer.Issuer, pat []byte) error {
	p, err := runtimeapi.Start(ctx, f)
	if err != nil {
		return err
	}
	defer p.Stop()
	credentials := map[string][]byte{"PAT": pat}
	names := append([]string{"PAT"}, issuer.Algorithms()...)
	for _, algorithm := range issuer.Algorithms() {
		claims := i.Claims(time.Now(), map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
		if credentials[algorithm], err = authorization(issuer.KeyFor(algorithm).Sign(nil, claims)); err != nil {
			return err
		}
	}
	const batches = 10
	used := map[string][]time.Duration{}
	for range batches {
		for _, name := range names {
			before, err := cpuTime(p.PID())
			if err != nil {
				return err
			}
			for range invocations / batches {
				if _, err := p.Invoke(ctx, credentials[name]); err != nil {
					return err
				}
			}
			after, err := cpuTime(p.PID())
			if err != nil {
				return err
			}
			used[name] = append(used[name], (after-before)/(invocations/batches))
		}
	}
	var rows [][]string
	for _, name := range names {
		rows = append(rows, []string{name, milliseconds(median(used[name])),
			milliseconds(median(used[name]) - median(used["PAT"]))})
	}
	printTable("Processor time of a request to the authorizer",
		fmt.Sprintf("JWTs with known keys; median of %d batches of %d. Goal: 0.30 ms more than a PAT.", batches,
			invocations/batches),
		[]string{"credential", "ms", "more than a PAT"}, rows)
	return nil
}

// measureFlood sends tokens with forged key ids, while others use PATs.
func measureFlood(ctx context.Context, s *service, i *issuer.Issuer) error {
	others := repeat(http.MethodGet, "/api/admin/feature-types", "")
	callers := func(n int) (worker, error) { return others(ctx, s, n) }
	quiet, err := drive(ctx, otherCallers, floodLength/2, callers)
	if err != nil {
		return err
	}
	// One token of the issuer, so that its keys are known.
	c, err := dial(ctx, s.Credentials.BaseURL)
	if err != nil {
		return err
	}
	if _, err := c.do(c.request(http.MethodGet, "/api/admin/feature-types", i.Token(time.Now(), nil), ""),
		http.StatusOK); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	var sent atomic.Int64
	faults := make([]error, flooders)
	began := time.Now()
	for n := range flooders {
		group.Go(func() { faults[n] = flood(ctx, s, i, n, &sent) })
	}
	// drive adds a quarter to warm up.
	flooded, err := drive(ctx, otherCallers, floodLength*4/5, callers)
	group.Wait()
	took := time.Since(began)
	if err := errors.Join(err, errors.Join(faults...)); err != nil {
		return err
	}
	printTable("Tokens with forged key IDs",
		fmt.Sprintf("%d tokens within %.0f s on %d connections to `make run`, each answered with 401, while %d others "+
			"list feature types with PATs. "+
			"Goals: at most 2 fetches of the keys, p99 of the others at most doubled.", sent.Load(), took.Seconds(), flooders,
			otherCallers),
		[]string{"", "requests/s of others", "p50 ms", "p99 ms", "fetches of the keys"}, [][]string{
			{"without the flood", fmt.Sprintf("%.0f", quiet.PerSecond), milliseconds(quiet.P50), milliseconds(quiet.P99), ""},
			{"with the flood", fmt.Sprintf("%.0f", flooded.PerSecond), milliseconds(flooded.P50), milliseconds(flooded.P99),
				strconv.Itoa(i.Fetches(issuer.KeysPath))},
			{"ratio", "", ratio(flooded.P50, quiet.P50), ratio(flooded.P99, quiet.P99), ""},
		})
	return nil
}

// flood sends one connection's share of the tokens, evenly over the length of the flood. Each must be a 401.
func flood(ctx context.Context, s *service, i *issuer.Issuer, n int, sent *atomic.Int64) error {
	c, err := dial(ctx, s.Credentials.BaseURL)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(floodLength * flooders / forgedTokens)
	defer ticker.Stop()
	forger := issuer.NewKey("ES256", "")
	for k := range forgedTokens / flooders {
		token := forger.Sign(map[string]any{"kid": fmt.Sprintf("forged-%d-%d", n, k)}, i.Claims(time.Now(), nil))
		if _, err := c.do(c.request(http.MethodGet, "/api/admin/feature-types", token, ""),
			http.StatusUnauthorized); err != nil {
			return err
		}
		sent.Add(1)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
