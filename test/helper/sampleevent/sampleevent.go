// Package sampleevent checks the response of a function to its sample event, events/<function>.json, in tables with
// only the seed data.
package sampleevent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// Check returns an error if a function's response to its sample event is wrong. The function is named by its folder. An
// API operation must succeed, unless what it needs is not seeded.
func Check(function string, response []byte) error {
	switch function {
	case "authorizer": // the sample event has an invalid credential
		return CheckDenied(response)
	case "record-traffic": // five requests; a repetition is not counted again
		var got struct{ Events, Counted, Duplicate, Uncounted, Malformed int }
		err := decode(response, &got)
		if err == nil && (got.Counted+got.Duplicate != 5 || got.Events != 6 || got.Uncounted != 1 || got.Malformed != 0) {
			err = fmt.Errorf("want five of six counted: %s", response)
		}
		return err
	case "client": // the token of the sample does not exist
		var got events.APIGatewayV2HTTPResponse
		err := decode(response, &got)
		if err == nil && got.StatusCode != http.StatusUnauthorized {
			err = fmt.Errorf("want status %d: %s", http.StatusUnauthorized, response)
		}
		return err
	case "sweep-snapshots", "sweep-usage":
		return checkText(response, `{}`)
	case "compile-snapshots", "reevaluate-staleness":
		return checkText(response, `{"batchItemFailures":[]}`)
	case "sweep-staleness":
		return checkText(response, `{"flagged":2,"unflagged":0,"left":0}`)
	case "sweep-change-requests":
		return checkText(response, `{"applied":0,"suspended":0,"failed":0,"left":0}`)
	case "announce-expiring-tokens":
		return checkText(response, `{"announced":0,"left":0}`)
	case "publish-events": // there is no bus
		return checkText(response, `{"batchItemFailures":[{"itemIdentifier":"5532695600000000028561540102"}]}`)
	case "deliver-webhook": // there is no secret
		return checkText(response, `{"batchItemFailures":[{"itemIdentifier":"059f36b4-87a3-44ab-83d2-661975830a7d"}]}`)
	case "get-segment", "get-segment-strategies", "update-segment", "remove-segment": // there is no segment
		return CheckHTTP(response, http.StatusNotFound)
	case "get-group", "update-group", "delete-group", "update-role", "delete-role": // there is no group and no custom role
		return CheckHTTP(response, http.StatusNotFound)
	case "archive-project", "revive-project", "delete-project", "add-environment-to-project",
		"remove-environment-from-project", "set-roles-for-group", "remove-group-access": // there is no such project or group
		return CheckHTTP(response, http.StatusNotFound)
	case "get-environment-freeze", "delete-environment-freeze", "get-project-environment-freeze",
		"delete-project-environment-freeze": // there is no freeze
		return CheckHTTP(response, http.StatusNotFound)
	case "update-api-token", "rotate-api-token", "delete-api-token", "rotate-project-api-token",
		"delete-project-api-token": // selectors are random
		return CheckHTTP(response, http.StatusNotFound)
	case "get-service-account-token", "delete-service-account-token", "delete-service-account-trust":
		// the seeded service account has no token and no trust
		return CheckHTTP(response, http.StatusNotFound)
	case "get-change-request", "delete-change-request", "update-change-request-state", "update-change-request-title",
		"add-change-request-comment", "get-change-request-approvers", "update-change-request-approvers",
		"update-change-request-change", "delete-change-request-change", "evaluate-change-request": // there is no change request
		return CheckHTTP(response, http.StatusNotFound)
	case "get-feature-strategy", "update-feature-strategy", "delete-feature-strategy": // ids of strategies are random
		return CheckHTTP(response, http.StatusNotFound)
	case "get-application": // no application has reported
		return CheckHTTP(response, http.StatusNotFound)
	case "remove-environment", "delete-feature-dependency", "delete-tag-type", "get-tag",
		"update-feature-link", "delete-feature-link":
		// there is no such environment, tag type, tag or link, and no dependency
		return CheckHTTP(response, http.StatusNotFound)
	case "not-found":
		return CheckHTTP(response, http.StatusNotFound)
	default:
		var got events.APIGatewayProxyResponse
		err := decode(response, &got)
		if err == nil && got.StatusCode/100 != 2 {
			err = fmt.Errorf("want a success: %s", response)
		}
		return err
	}
}

// CheckDenied returns an error if the authorizer's response does not deny the request.
func CheckDenied(response []byte) error {
	var got events.APIGatewayCustomAuthorizerResponse
	err := decode(response, &got)
	if statements := got.PolicyDocument.Statement; err == nil && (len(statements) != 1 || statements[0].Effect != "Deny") {
		err = fmt.Errorf("want one Deny: %s", response)
	}
	return err
}

// CheckHTTP returns an error if a proxy response does not have the status. An error response must have the error
// object.
func CheckHTTP(response []byte, status int) error {
	var got events.APIGatewayProxyResponse
	if err := decode(response, &got); err != nil {
		return err
	}
	var object struct{ ID, Name, Message string }
	if status >= http.StatusBadRequest {
		if err := decode([]byte(got.Body), &object); err != nil {
			return err
		}
	}
	if got.StatusCode != status || (object.Message == "") != (status < http.StatusBadRequest) {
		return fmt.Errorf("want status %d: %s", status, response)
	}
	return nil
}

// checkText compares the response with the wanted text. It ignores spaces, because sam local inserts them.
func checkText(response []byte, want string) error {
	if got := strings.Join(strings.Fields(string(response)), ""); got != want {
		return fmt.Errorf("the response is %s, want %s", got, want)
	}
	return nil
}

// decode decodes JSON. It rejects unknown properties.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("decode %q: %w", text, err)
	}
	return nil
}
