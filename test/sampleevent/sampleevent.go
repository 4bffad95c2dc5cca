// Package sampleevent knows what each function answers to its sample event, events/<function>.json, when the tables are new and seeded.
//
// Not here: how the function is run. Tests do that in several ways, and ask this package about the answer.
package sampleevent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/aws/aws-lambda-go/events"
)

// Check says what is wrong with a function's answer to its sample event; the function is named by its folder. An error object of Lambda is
// never right.
func Check(function string, answer []byte) error {
	switch function {
	case "authorizer":
		return CheckDenied(answer) // the sample event's credential was never issued
	case "record-traffic":
		return checkRecorded(answer)
	case "reevaluate-staleness": // the type has its seeded lifetime, and a toggle that has outlived it
		return checkJSON(answer, `{"batchItemFailures": []}`)
	case "sweep-staleness":
		return checkJSON(answer, `{"flagged": 2, "unflagged": 0, "left": 0}`)
	default:
		return checkStatus(function, answer)
	}
}

// CheckDenied says what is wrong with the authorizer's refusal of a credential.
func CheckDenied(answer []byte) error {
	var got events.APIGatewayCustomAuthorizerResponse
	if err := decode(answer, &got); err != nil {
		return err
	}
	if got.PrincipalID != "anonymous" || len(got.PolicyDocument.Statement) != 1 || got.PolicyDocument.Statement[0].Effect != "Deny" {
		return fmt.Errorf("want one Deny for anonymous: %s", answer)
	}
	return nil
}

// Response reads a proxy response. It fails where the shape of the response, or of the error object where it is one, is not ours.
func Response(answer []byte) (events.APIGatewayProxyResponse, error) {
	var response events.APIGatewayProxyResponse
	if err := decode(answer, &response); err != nil {
		return response, err
	}
	header := http.Header(response.MultiValueHeaders)
	if got := header.Get("Cache-Control"); got != "no-store" {
		return response, fmt.Errorf("Cache-Control %q, want no-store", got)
	}
	if got := header.Get("Content-Type"); response.Body != "" && got != "application/json" {
		return response, fmt.Errorf("Content-Type %q, want application/json", got)
	}
	if response.StatusCode < http.StatusBadRequest {
		return response, nil
	}
	var object struct{ ID, Name, Message string }
	if err := decode([]byte(response.Body), &object); err != nil {
		return response, err
	}
	if object.ID == "" || object.Name == "" || object.Message == "" {
		return response, fmt.Errorf("not the error object: %s", response.Body)
	}
	return response, nil
}

func checkStatus(function string, answer []byte) error {
	want, ok := map[string]int{
		"create-service-account-token": http.StatusCreated,
		"delete-own-token":             http.StatusOK,
		"get-traffic-usage":            http.StatusOK,
		"list-context-fields":          http.StatusOK,
		"list-feature-types":           http.StatusOK,
		"not-found":                    http.StatusNotFound,
		"update-feature-type-lifetime": http.StatusOK,
		"update-feedback":              http.StatusOK,
	}[function]
	if !ok {
		return fmt.Errorf("the answer of %s to its sample event is not known: add it here", function)
	}
	response, err := Response(answer)
	if err == nil && response.StatusCode != want {
		err = fmt.Errorf("status %d, want %d: %s", response.StatusCode, want, response.Body)
	}
	return err
}

// checkRecorded: the sample event has five requests that count. When it comes again, it counts no more.
func checkRecorded(answer []byte) error {
	var got struct{ Events, Counted, Duplicate, Uncounted, Malformed int }
	if err := decode(answer, &got); err != nil {
		return err
	}
	if got.Counted+got.Duplicate != 5 || got.Events != 6 || got.Uncounted != 1 || got.Malformed != 0 {
		return fmt.Errorf("want five of six counted: %s", answer)
	}
	return nil
}

// checkJSON compares values: whoever runs the function may have laid out its answer anew.
func checkJSON(answer []byte, want string) error {
	var gotValue, wantValue any
	if err := errors.Join(decode(answer, &gotValue), decode([]byte(want), &wantValue)); err != nil {
		return err
	}
	if !reflect.DeepEqual(gotValue, wantValue) {
		return fmt.Errorf("the answer is %s, want %s", answer, want)
	}
	return nil
}

// decode refuses members that the type does not have.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("decode %q: %w", text, err)
	}
	return nil
}
