package main

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/test/helper/issuer"
	"toggleadmin/test/helper/runtimeapi"
)

// measureAuthorizer compares the processor time of a request to the authorizer, for a PAT, with that of an earlier one, in
// turn on the same tables.
func measureAuthorizer(ctx context.Context, o options) {
	const batches = 20
	if o.Earlier == "" {
		check(errors.New("the suite authorizer needs --earlier, the binary of an earlier authorizer"))
	}
	s := startService(ctx, o, filepath.Join(o.memory, "authorizer"))
	defer s.stop()
	f := function(loadTemplate(map[string]string{"DynamoDBEndpoint": s.DynamoDBEndpoint}), "authorizer")
	current := must(runtimeapi.Start(ctx, process(buildFunctions(ctx, o, "authorizer"), f)))
	defer current.Stop()
	before := runtimeapi.Function{Binary: o.Earlier, Variables: f.Environment, Timeout: f.Timeout}
	earlier := must(runtimeapi.Start(ctx, before))
	defer earlier.Stop()

	event := authorization(s.Users[1].PAT)
	cpu, elapsed := map[*runtimeapi.Process][]time.Duration{}, map[*runtimeapi.Process][]time.Duration{}
	for range batches {
		for _, p := range []*runtimeapi.Process{earlier, current} {
			used, began := cpuTime(p.PID()), time.Now()
			for range invocations / batches {
				invoke(ctx, p, event)
			}
			cpu[p] = append(cpu[p], (cpuTime(p.PID())-used)/(invocations/batches))
			elapsed[p] = append(elapsed[p], time.Since(began)/(invocations/batches))
		}
	}
	ratio := func(measured map[*runtimeapi.Process][]time.Duration) any {
		return float64(median(measured[current])) / float64(median(measured[earlier]))
	}
	printTable("A request to the authorizer with a PAT", " | earlier ms | now ms | ratio", [][]any{
		{"processor time", median(cpu[earlier]), median(cpu[current]), ratio(cpu)},
		{"time", median(elapsed[earlier]), median(elapsed[current]), ratio(elapsed)},
	}, "Median of %d batches of %d, in turn. Goal: a ratio of 1.15.", batches, invocations/batches)
}

// measurePipelines compares a request to the authorizer with the ID token of a pipeline that a service account trusts with
// one with a stored token of the same account, in turn in the same process.
func measurePipelines(ctx context.Context, o options) {
	const batches, audience = 20, "https://127.0.0.1"
	i := issuer.Start(true)
	defer i.Close()
	certificate := filepath.Join(o.disk, "pipelines.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
	check(os.WriteFile(certificate, block, 0o600))
	s := startService(ctx, o, filepath.Join(o.memory, "pipelines"))
	defer s.stop()
	api := must(apiclient.New(s.BaseURL, s.Users[0].PAT))
	post := func(body, into any, path ...string) {
		must(api.Call(ctx, http.MethodPost, path, nil, nil, body, into))
	}
	var account struct {
		ID int64 `json:"id"`
	}
	post(map[string]any{"name": "deploy", "username": "deploy", "rootRole": 3}, &account, "service-account")
	own := []string{"service-account", strconv.FormatInt(account.ID, 10)}
	var token struct {
		Secret string `json:"secret"`
	}
	post(map[string]any{"description": "deploy", "expiresAt": time.Now().AddDate(0, 0, 1)}, &token, append(own, "token")...)
	claims := map[string]string{"repository_id": "1296269", "ref": "refs/heads/main"}
	post(map[string]any{"description": "deploy", "issuer": i.URL, "audience": audience, "claims": claims}, nil,
		append(own, "trust")...)

	f := function(loadTemplate(map[string]string{"DynamoDBEndpoint": s.DynamoDBEndpoint}), "authorizer")
	f.Environment["SSL_CERT_FILE"] = certificate
	p := must(runtimeapi.Start(ctx, process(buildFunctions(ctx, o, "authorizer"), f)))
	defer p.Stop()
	names := []string{"stored token", "ID token, RS256", "ID token, ES256"}
	events := map[string][]byte{names[0]: authorization(token.Secret)}
	for _, algorithm := range []string{"RS256", "ES256"} {
		events["ID token, "+algorithm] = authorization(issuer.KeyFor(algorithm).Sign(nil, i.Claims(time.Now(), map[string]any{
			"aud": audience, "sub": "repo:octo-org/shop:ref:refs/heads/main", "repository_id": "1296269", "ref": "refs/heads/main",
			"email": nil, "email_verified": nil, "name": nil,
		})))
	}
	cpu, elapsed := map[string][]time.Duration{}, map[string][]time.Duration{}
	for range batches {
		for _, name := range names {
			used, began := cpuTime(p.PID()), time.Now()
			for range invocations / batches {
				invoke(ctx, p, events[name])
			}
			cpu[name] = append(cpu[name], (cpuTime(p.PID())-used)/(invocations/batches))
			elapsed[name] = append(elapsed[name], time.Since(began)/(invocations/batches))
		}
	}
	var rows [][]any
	for _, name := range names {
		used, took := median(cpu[name]), median(elapsed[name])
		rows = append(rows, []any{name, used, used - median(cpu[names[0]]), float64(used) / float64(median(cpu[names[0]])),
			took, float64(took) / float64(median(elapsed[names[0]]))})
	}
	printTable("A request to the authorizer of a pipeline",
		" credential | processor ms | more than a stored token | ratio | time ms | ratio", rows,
		"Known keys; median of %d batches of %d, in turn. Goal: 0.30 ms more than a stored token.", batches, invocations/batches)
}
