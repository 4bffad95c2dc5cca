package bus

import (
	"bytes"
	"crypto/md5" //nolint:gosec // SQS has it in its responses
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// client sends requests for the services of the bus to the bus, and others to the engine.
type client struct {
	*Bus
	engine aws.HTTPClient
}

// Client returns the HTTP client of a function's AWS configuration.
func (b *Bus) Client(engine aws.HTTPClient) aws.HTTPClient { return client{b, engine} }

// serviceError is an error in AWS's form.
type serviceError struct{ code, message string }

func (e *serviceError) Error() string { return e.code + ": " + e.message }

// Do implements aws.HTTPClient.
func (c client) Do(r *http.Request) (*http.Response, error) {
	operations := map[string]func(*input) (any, error){
		"AWSEvents.PutEvents":               c.putEvents,
		"AmazonSQS.ChangeMessageVisibility": c.changeMessageVisibility,
		"AmazonSQS.SendMessage":             c.sendMessage,
		"AmazonSSM.GetParameter":            c.getParameter,
	}
	operation := operations[r.Header.Get("X-Amz-Target")]
	if operation == nil {
		return c.engine.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, fmt.Errorf("read the request body: %w", err)
	}
	status := http.StatusOK
	var in input
	var output any
	if err = json.Unmarshal(body, &in); err == nil {
		output, err = operation(&in)
	}
	if err != nil {
		failed := &serviceError{"ValidationException", err.Error()}
		_ = errors.As(err, &failed)
		status, output = http.StatusBadRequest, map[string]string{"__type": failed.code, "message": failed.message}
	}
	content, err := json.Marshal(output)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(content)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: io.NopCloser(bytes.NewReader(content)),
	}, nil
}

// input contains the properties of the inputs of all operations that are read.
type input struct {
	Entries                                    []struct{ Detail, DetailType string }
	QueueURL, ReceiptHandle, MessageBody, Name string
	VisibilityTimeout                          int // seconds
}

// putEvents sends the detail of each entry to the queue of each rule that selects its type.
func (c client) putEvents(in *input) (any, error) {
	var out struct {
		FailedEntryCount int
		Entries          []map[string]string
	}
	for _, entry := range in.Entries {
		var err error
		for _, rule := range c.Template.Rules {
			if rule.Types == nil || slices.Contains(rule.Types, entry.DetailType) {
				err = errors.Join(err, c.queues[rule.Queue].Send(entry.Detail))
			}
		}
		result := map[string]string{"EventId": c.NewID()}
		if err != nil {
			out.FailedEntryCount++
			result = map[string]string{"ErrorCode": "InternalFailure", "ErrorMessage": err.Error()}
		}
		out.Entries = append(out.Entries, result)
	}
	return out, nil
}

func (c client) changeMessageVisibility(in *input) (any, error) {
	q := c.queues[in.QueueURL] // the logical id
	if q == nil {
		return nil, &serviceError{"com.amazonaws.sqs#QueueDoesNotExist", "there is no queue " + in.QueueURL}
	}
	if err := q.ChangeVisibility(in.ReceiptHandle, time.Duration(in.VisibilityTimeout)*time.Second); err != nil {
		return nil, &serviceError{"com.amazonaws.sqs#ReceiptHandleIsInvalid", err.Error()}
	}
	return struct{}{}, nil
}

// sendMessage sends a message to a dead-letter queue.
func (c client) sendMessage(in *input) (any, error) {
	for _, q := range c.Template.Queues {
		if q.LogicalID == in.QueueURL && c.queues[q.LogicalID] == nil {
			sum := md5.Sum([]byte(in.MessageBody)) //nolint:gosec // the SDK checks it
			return map[string]string{"MessageId": c.NewID(), "MD5OfMessageBody": hex.EncodeToString(sum[:])},
				c.Discard(q.LogicalID, in.MessageBody)
		}
	}
	return nil, &serviceError{"com.amazonaws.sqs#QueueDoesNotExist", "there is no dead-letter queue " + in.QueueURL}
}

func (c client) getParameter(in *input) (any, error) {
	value, ok := c.Parameters[in.Name]
	if !ok {
		return nil, &serviceError{"ParameterNotFound", "there is no parameter " + in.Name}
	}
	return map[string]any{"Parameter": map[string]string{"Name": in.Name, "Type": "SecureString", "Value": value}}, nil
}
