package main

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
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
func measureSignIn(ctx context.Context, o options) {
	i := issuer.Start(false)
	defer i.Close()
	s := startService(ctx, o, filepath.Join(o.memory, "signin"),
		"OIDC_ISSUER="+i.URL, "OIDC_CLIENT_ID="+issuer.ClientID, "OIDC_DEFAULT_ROLE=Viewer")
	defer s.stop()
	compareAuthorizers(ctx, o, s)
	measureFlood(ctx, s, i)
}

// authorization returns the sample event of the authorizer with a credential.
func authorization(credential string) []byte {
	var event map[string]any
	check(json.Unmarshal(sampleEvent("authorizer"), &event))
	event["headers"] = map[string]string{"authorization": credential}
	event["multiValueHeaders"] = map[string][]string{"authorization": {credential}}
	return must(json.Marshal(event))
}

// compareAuthorizers compares the starts of an authorizer without an issuer, which can be of an earlier version, and one
// with an issuer, which has https.
func compareAuthorizers(ctx context.Context, o options, s *service) {
	i := issuer.Start(true)
	defer i.Close()
	certificate := filepath.Join(o.disk, "issuer.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
	check(os.WriteFile(certificate, block, 0o600))
	parameters := map[string]string{"DynamoDBEndpoint": s.DynamoDB.Endpoint}
	without := function(loadTemplate(parameters), "authorizer")
	parameters["OidcIssuer"], parameters["OidcClientId"], parameters["OidcDefaultRole"] = i.URL, issuer.ClientID, "Viewer"
	with := function(loadTemplate(parameters), "authorizer")
	with.Environment["SSL_CERT_FILE"] = certificate
	binary := buildFunctions(ctx, o) + with.Name
	functions := []runtimeapi.Function{
		{Binary: cmp.Or(o.Before, binary), Variables: without.Environment, Timeout: without.Timeout},
		{Binary: binary, Variables: with.Environment, Timeout: with.Timeout},
	}
	pat := authorization(s.Users[0].PAT)
	times := startInTurn(ctx, pat, functions...)
	var rows [][]any
	for n, t := range times {
		rows = append(rows, []any{[]string{"without issuer", "with issuer"}[n], t.next, ratio(t.next, times[0].next), t.response,
			ratio(t.response, times[0].response), sizeMB(functions[n])})
	}
	printTable("The authorizer and an OpenID Connect issuer",
		fmt.Sprintf("Start → first `/next`, and → first response to a PAT; median of %d starts in turn. Goals: ratio "+
			"1.05, 0.6 MB more than before. The issuer was asked %d times.", starts,
			i.Fetches(issuer.MetadataPath)+i.Fetches(issuer.KeysPath)),
		[]any{"authorizer", "→ next ms", "ratio", "→ response ms", "ratio", "size MB"}, rows)
	compareCPU(ctx, functions[1], i, pat)
}

// compareCPU compares the processor time of a JWT whose key is known with that of a PAT, in the same process.
func compareCPU(ctx context.Context, f runtimeapi.Function, i *issuer.Issuer, pat []byte) {
	const batches = 10
	p := must(runtimeapi.Start(ctx, f))
	defer p.Stop()
	events := map[string][]byte{"PAT": pat}
	names := append([]string{"PAT"}, issuer.Algorithms()...)
	for _, algorithm := range issuer.Algorithms() {
		claims := i.Claims(time.Now(), map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
		events[algorithm] = authorization(issuer.KeyFor(algorithm).Sign(nil, claims))
	}
	used := map[string][]time.Duration{}
	for range batches {
		for _, name := range names {
			before := cpuTime(p.PID())
			for range invocations / batches {
				invoke(ctx, p, events[name])
			}
			used[name] = append(used[name], (cpuTime(p.PID())-before)/(invocations/batches))
		}
	}
	var rows [][]any
	for _, name := range names {
		rows = append(rows, []any{name, median(used[name]), median(used[name]) - median(used["PAT"])})
	}
	printTable("Processor time of a request to the authorizer",
		fmt.Sprintf("JWTs with known keys; median of %d batches of %d. Goal: 0.30 ms more than a PAT.", batches,
			invocations/batches),
		[]any{"credential", "ms", "more than a PAT"}, rows)
}

// measureFlood sends tokens with forged key ids, while others use PATs.
func measureFlood(ctx context.Context, s *service, i *issuer.Issuer) {
	const path, length = "/api/admin/feature-types", floodLength * 4 / 5 // drive adds a quarter
	others := newWorkers(otherCallers, func(n int) worker {
		return repeat(http.MethodGet, "feature-types", "")(ctx, s, n)
	})
	quiet := must(drive(ctx, length, others))
	// One token of the issuer, so that its keys are known. The e-mail address belongs to a person of the other issuer.
	token := i.Token(time.Now(), map[string]any{"email": nil})
	must(dial(ctx, s).do(http.StatusOK, http.MethodGet, path, token, ""))
	var sent atomic.Int64
	forgers := newWorkers(flooders, func(int) worker {
		c, forger := dial(ctx, s), issuer.NewKey("ES256", "")
		ticks := time.Tick(floodLength * flooders / forgedTokens)
		return func(context.Context) error {
			<-ticks
			token := forger.Sign(map[string]any{"kid": fmt.Sprint("forged-", sent.Add(1))}, i.Claims(time.Now(), nil))
			_, err := c.do(http.StatusUnauthorized, http.MethodGet, path, token, "")
			return err
		}
	})
	ended := make(chan error, 1)
	go func() {
		_, err := drive(ctx, length, forgers)
		ended <- err
	}()
	flooded, err := drive(ctx, length, others)
	check(errors.Join(err, <-ended))
	printTable("Tokens with forged key IDs",
		fmt.Sprintf("%d tokens within %s on %d connections to `make run`, each answered with 401, while %d others list "+
			"feature types with PATs. Goals: at most 2 fetches of the keys, p99 of the others at most doubled.", sent.Load(),
			floodLength, flooders, otherCallers),
		[]any{"", "p50 ms", "p99 ms", "fetches of the keys"}, [][]any{
			{"without the flood", quiet.p50, quiet.p99, ""},
			{"with the flood", flooded.p50, flooded.p99, i.Fetches(issuer.KeysPath)},
			{"ratio", ratio(flooded.p50, quiet.p50), ratio(flooded.p99, quiet.p99), ""},
		})
}
