package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"time"

	"toggleadmin/test/helper/issuer"
	"toggleadmin/test/helper/runtimeapi"
)

// measureSignIn compares the processor time of the authorizer for a JWT of an OpenID Connect issuer, whose key is known,
// with that for a PAT, in the same process.
func measureSignIn(ctx context.Context, o options) {
	const batches = 10
	i := issuer.Start(true)
	defer i.Close()
	certificate := filepath.Join(o.disk, "issuer.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
	check(os.WriteFile(certificate, block, 0o600))
	s := startService(ctx, o, filepath.Join(o.memory, "signin"))
	defer s.stop()
	f := function(loadTemplate(map[string]string{"DynamoDBEndpoint": s.DynamoDBEndpoint,
		"OidcIssuer": i.URL, "OidcClientId": issuer.ClientID, "OidcDefaultRole": "Viewer"}), "authorizer")
	f.Environment["SSL_CERT_FILE"] = certificate
	p := must(runtimeapi.Start(ctx, process(buildFunctions(ctx, o), f)))
	defer p.Stop()

	names := append([]string{"PAT"}, issuer.Algorithms()...)
	events, used := map[string][]byte{"PAT": authorization(s.Users[0].PAT)}, map[string][]time.Duration{}
	for _, algorithm := range issuer.Algorithms() {
		events[algorithm] = authorization(issuer.KeyFor(algorithm).Sign(nil, i.Claims(time.Now(), nil)))
	}
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
		" credential | ms | more than a PAT", rows,
		"JWTs with known keys; median of %d batches of %d. Goal: 0.30 ms more than a PAT.", batches, invocations/batches)
}

// authorization returns the sample event of the authorizer with a credential.
func authorization(credential string) []byte {
	var event map[string]any
	check(json.Unmarshal(sampleEvent("authorizer"), &event))
	event["headers"] = map[string]string{"authorization": credential}
	event["multiValueHeaders"] = map[string][]string{"authorization": {credential}}
	return must(json.Marshal(event))
}
