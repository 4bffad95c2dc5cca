// Package eventbridge responds to PutEvents as EventBridge does, with its limits of a request.
package eventbridge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// The limits of a request (EventBridge API Reference, PutEvents; EventBridge User Guide, "Calculating PutEvents event
// entry size").
const (
	maxEntries = 10
	maxSize    = 256 << 10 // bytes; all entries together are smaller
)

// result is an element of the response.
type result struct {
	EventID      string `json:"EventId,omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

// PutEvents returns the response to a request. store gets the detail of each entry, and returns an error code if the bus
// does not store it; "": it does.
func PutEvents(request []byte, store func(i int, detail string) (code string)) (status int, response []byte) {
	var in struct {
		Entries []struct{ Source, DetailType, Detail, EventBusName string }
	}
	if err := json.Unmarshal(request, &in); err != nil {
		return refusal(err.Error())
	}
	size := 0
	for _, e := range in.Entries {
		size += len(e.Source) + len(e.DetailType) + len(e.Detail)
	}
	if n := len(in.Entries); n == 0 || n > maxEntries {
		return refusal(fmt.Sprintf("%d entries, want 1 to %d", n, maxEntries))
	}
	if size >= maxSize {
		return refusal("Total size of the entries in the request is over the limit.")
	}
	var out struct {
		FailedEntryCount int
		Entries          []result
	}
	for i, e := range in.Entries {
		code := store(i, e.Detail)
		if code == "" {
			out.Entries = append(out.Entries, result{EventID: strconv.Itoa(i + 1)})
			continue
		}
		out.FailedEntryCount++
		out.Entries = append(out.Entries, result{ErrorCode: code, ErrorMessage: "injected"})
	}
	response, err := json.Marshal(out)
	if err != nil { // out consists of texts and numbers
		panic(err)
	}
	return http.StatusOK, response
}

func refusal(message string) (status int, response []byte) {
	return http.StatusBadRequest, fmt.Appendf(nil, `{"__type":"ValidationException","message":%q}`, message)
}
