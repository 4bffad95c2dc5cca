package eventsource

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// taken reads the answer of a function that reports failures: how many records, from the first on, are done. An error says why it is none.
func taken(batch []*record, output []byte) (int, error) {
	if output = bytes.TrimSpace(output); len(output) == 0 {
		return len(batch), nil
	}
	var answer *struct {
		Failures []struct {
			Identifier *string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(output, &answer); err != nil {
		return 0, fmt.Errorf("read the answer: %w", err)
	}
	if answer == nil {
		return len(batch), nil
	}
	lowest := len(batch)
	for _, failure := range answer.Failures {
		if failure.Identifier == nil || *failure.Identifier == "" {
			return 0, errors.New("an itemIdentifier is missing or empty")
		}
		at := -1
		for i, r := range batch {
			if r.sequence == *failure.Identifier {
				at = i
			}
		}
		if at < 0 {
			return 0, fmt.Errorf("the itemIdentifier %q is no sequence number of the batch", *failure.Identifier)
		}
		lowest = min(lowest, at)
	}
	return lowest, nil
}
