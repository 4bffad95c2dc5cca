package main_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/rogpeppe/go-internal/testscript"
)

// permit runs `permit ACTION…`: the script's programs then run as a user that has only these permissions.
func (e *emulator) permit(ts *testscript.TestScript, _ bool, args []string) {
	name := "permit-" + rand.Text()
	policy, err := json.Marshal(object{"Version": "2012-10-17",
		"Statement": []object{{"Effect": "Allow", "Action": args, "Resource": "*"}}})
	ts.Check(err)
	e.iam(ts, url.Values{"Action": {"CreateUser"}, "UserName": {name}})
	e.iam(ts, url.Values{"Action": {"PutUserPolicy"}, "UserName": {name}, "PolicyName": {"actions"},
		"PolicyDocument": {string(policy)}})
	var key struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	ts.Check(xml.Unmarshal(e.iam(ts, url.Values{"Action": {"CreateAccessKey"}, "UserName": {name}}), &key))
	ts.Setenv("AWS_ACCESS_KEY_ID", key.ID)
	ts.Setenv("AWS_SECRET_ACCESS_KEY", key.Secret)
}

// iam calls IAM with the permissions of the test. The SDK's client would be another module for three calls.
func (e *emulator) iam(ts *testscript.TestScript, form url.Values) []byte {
	form.Set("Version", "2010-05-08")
	body := form.Encode()
	request, err := http.NewRequestWithContext(e.ctx, http.MethodPost, aws.ToString(e.cfg.BaseEndpoint)+"/",
		strings.NewReader(body))
	ts.Check(err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	credentials, err := e.cfg.Credentials.Retrieve(e.ctx)
	ts.Check(err)
	sum := sha256.Sum256([]byte(body))
	ts.Check(signer.NewSigner().SignHTTP(e.ctx, credentials, request, hex.EncodeToString(sum[:]), "iam", "us-east-1",
		time.Now()))
	return do(ts, request, "200")
}
