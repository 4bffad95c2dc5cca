package toggleadmin_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/rogpeppe/go-internal/testscript"
)

// permit makes the script's programs a user who may do these actions and nothing else: `permit ACTION…`.
func (e *emulator) permit(ts *testscript.TestScript, neg bool, args []string) {
	arguments(ts, neg, args, 1, "permit ACTION…")
	name := "permit-" + rand.Text()
	policy, err := json.Marshal(object{"Version": "2012-10-17", "Statement": []object{{"Effect": "Allow", "Action": args, "Resource": "*"}}})
	ts.Check(err)
	e.iam(ts, url.Values{"Action": {"CreateUser"}, "UserName": {name}})
	e.iam(ts, url.Values{"Action": {"PutUserPolicy"}, "UserName": {name}, "PolicyName": {"actions"}, "PolicyDocument": {string(policy)}})
	var key struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	ts.Check(xml.Unmarshal(e.iam(ts, url.Values{"Action": {"CreateAccessKey"}, "UserName": {name}}), &key))
	ts.Setenv("AWS_ACCESS_KEY_ID", key.ID)
	ts.Setenv("AWS_SECRET_ACCESS_KEY", key.Secret)
}

// iam calls IAM as the test itself. Its own client would be a module more for three calls.
func (e *emulator) iam(ts *testscript.TestScript, form url.Values) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), usual)
	defer cancel()
	form.Set("Version", "2010-05-08")
	body := form.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("AWS_ENDPOINT_URL")+"/", strings.NewReader(body))
	ts.Check(err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	credentials, err := e.cfg.Credentials.Retrieve(ctx)
	ts.Check(err)
	sum := sha256.Sum256([]byte(body))
	ts.Check(signer.NewSigner().SignHTTP(ctx, credentials, request, hex.EncodeToString(sum[:]), "iam", "us-east-1", time.Now()))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	ts.Check(err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	ts.Check(err)
	if answer.StatusCode != http.StatusOK {
		ts.Fatalf("%s: status %d: %s", form.Get("Action"), answer.StatusCode, content)
	}
	return content
}
