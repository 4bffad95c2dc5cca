package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"toggleadmin/pkg/seed"
)

const localJSON = "local.json"

// readCredentials gives what an earlier run has kept. A file that is gone or cannot be read has kept nothing: the seed makes what is
// missing anew.
func readCredentials(dir string) seed.Credentials {
	var kept Running
	if dir == "" {
		return kept.Credentials
	}
	content, err := os.ReadFile(filepath.Join(dir, localJSON))
	if err != nil || json.Unmarshal(content, &kept) != nil {
		return seed.Credentials{}
	}
	return kept.Credentials
}

// writeLocalJSON replaces the file as a whole, readable by its owner only.
func writeLocalJSON(dir string, r *Running) error {
	if dir == "" {
		return nil
	}
	content, err := layOut(r)
	if err != nil {
		return fmt.Errorf("write %s: %w", localJSON, err)
	}
	f, err := os.CreateTemp(dir, localJSON+".*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", localJSON, err)
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", localJSON, err), os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, localJSON)); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", localJSON, err), os.Remove(f.Name()))
	}
	return nil
}

// layOut writes each account on a line of its own, so that sed and grep find a token without a JSON parser.
func layOut(r *Running) ([]byte, error) {
	var b bytes.Buffer
	var failed error
	value := func(v any) {
		text, err := json.Marshal(v)
		failed = errors.Join(failed, err)
		b.Write(text)
	}
	b.WriteString("{\n  \"baseUrl\": ")
	value(r.BaseURL)
	b.WriteString(",\n  \"apiToken\": ")
	value(r.APIToken)
	b.WriteString(",\n  \"users\": [")
	for i := range r.Users {
		b.WriteString(separator(i))
		value(r.Users[i])
	}
	b.WriteString("\n  ],\n  \"serviceAccounts\": [")
	for i := range r.ServiceAccounts {
		b.WriteString(separator(i))
		value(r.ServiceAccounts[i])
	}
	b.WriteString("\n  ],\n  \"dynamodb\": ")
	value(r.DynamoDB)
	b.WriteString("\n}\n")
	return b.Bytes(), failed
}

func separator(i int) string {
	if i == 0 {
		return "\n    "
	}
	return ",\n    "
}
