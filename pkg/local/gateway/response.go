package gateway

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"
)

// response is what a client receives.
type response struct {
	status int
	header http.Header
	body   string
}

// parseResponse reads a function's proxy response.
func parseResponse(output []byte) (*response, error) {
	if len(output) > maxResponse {
		return nil, fmt.Errorf("the function's response of %d bytes is larger than 6 MB", len(output))
	}
	var p events.APIGatewayProxyResponse
	if err := json.Unmarshal(output, &p, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("malformed Lambda proxy response: %w", err)
	}
	if p.StatusCode < 200 || p.StatusCode > 599 {
		return nil, fmt.Errorf("malformed Lambda proxy response: statusCode %d", p.StatusCode)
	}
	header := make(http.Header, len(p.Headers)+len(p.MultiValueHeaders)+6) // and those of send
	for name, value := range p.Headers {
		header.Set(name, value)
	}
	for name, values := range p.MultiValueHeaders {
		header[http.CanonicalHeaderKey(name)] = values
	}
	return &response{p.StatusCode, header, p.Body}, nil
}

// send writes the access log, then the response with the headers that API Gateway adds, in its spelling.
func (r *request) send(w http.ResponseWriter, response *response) {
	header := w.Header()
	maps.Copy(header, response.header)
	header["x-amzn-RequestId"] = []string{r.id}
	header["x-amz-apigw-id"] = []string{r.extendedID}
	if header["Content-Type"] == nil {
		header["Content-Type"] = []string{mediaType}
	}
	// The length of the response to a GET is not known: functions respond to HEAD without a body.
	if response.status != http.StatusNoContent && r.method != http.MethodHead {
		header["Content-Length"] = []string{strconv.Itoa(len(response.body))}
	}
	r.status, r.latency = response.status, r.gateway.config.Now().Sub(r.start)
	if line := r.fill(r.gateway.config.API.AccessLogFormat, "-"); line != "" {
		r.gateway.config.AccessLog([]byte(line[:min(len(line), maxLogLine)]), r.start)
	}
	w.WriteHeader(response.status)
	_, _ = w.Write([]byte(response.body)) // fails if the client has gone or the status has no body
}
