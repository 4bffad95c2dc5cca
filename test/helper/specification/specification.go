// Package specification reads the npm package @unleash/client-specification, by which the authors of SDKs test them:
// states of toggles, and contexts with the results that they must have.
package specification

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
)

// Count is the number of cases in all files of the installed version.
const Count = 279

// File is a state with its cases.
type File struct {
	Name  string // "01-simple-examples"
	State evaluation.Document
	Cases []Case
}

// Case is an evaluation of a toggle.
type Case struct {
	Description string
	Toggle      string
	Context     json.RawMessage // in the form of SDKs
	Enabled     bool            // whether the toggle must be on
	Variant     *Variant        // that it must have; nil: the case does not ask for it
}

// Variant is a variant in the form of SDKs. Without one, the name is disabled.
type Variant struct {
	Name           string          `json:"name"`
	Enabled        bool            `json:"enabled"`
	FeatureEnabled bool            `json:"feature_enabled"`
	Payload        *toggle.Payload `json:"payload"`
}

// Files returns all files. It skips the test if the npm packages are not installed.
func Files(t *testing.T) []File {
	t.Helper()
	paths, err := filepath.Glob("../../node_modules/@unleash/client-specification/specifications/[0-9]*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("the npm packages are not installed: run make node_modules/.installed")
	}
	var files []File
	for _, path := range paths {
		files = append(files, read(t, path))
	}
	return files
}

func read(t *testing.T, path string) File {
	t.Helper()
	var content struct {
		State struct {
			evaluation.Document
			Events []deltaEvent `json:"events"` // instead of the state
		} `json:"state"`
		Tests        []test[bool]    `json:"tests"`
		VariantTests []test[Variant] `json:"variantTests"`
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	file := File{Name: filepath.Base(path[:len(path)-len(".json")]), State: content.State.Document}
	if content.State.Events != nil {
		file.State = afterEvents(t, content.State.Events)
	}
	for _, c := range content.Tests {
		file.Cases = append(file.Cases, Case{c.Description, c.ToggleName, c.Context, c.ExpectedResult, nil})
	}
	for _, c := range content.VariantTests {
		expected := c.ExpectedResult
		file.Cases = append(file.Cases, Case{c.Description, c.ToggleName, c.Context, expected.FeatureEnabled, &expected})
	}
	return file
}

// test is a case in a file.
type test[T any] struct {
	Description    string          `json:"description"`
	Context        json.RawMessage `json:"context"`
	ToggleName     string          `json:"toggleName"`
	ExpectedResult T               `json:"expectedResult"`
}

// deltaEvent changes the state.
type deltaEvent struct {
	Type        string               `json:"type"`
	Features    []evaluation.Feature `json:"features"`
	Segments    []toggle.Segment     `json:"segments"`
	Feature     evaluation.Feature   `json:"feature"`
	FeatureName string               `json:"featureName"`
	Segment     toggle.Segment       `json:"segment"`
	SegmentID   int64                `json:"segmentId"`
}

// afterEvents returns the state after events.
func afterEvents(t *testing.T, events []deltaEvent) evaluation.Document {
	t.Helper()
	features := map[string]evaluation.Feature{}
	segments := map[int64]toggle.Segment{}
	for _, event := range events {
		switch event.Type {
		case "hydration":
			for _, feature := range event.Features {
				features[feature.Name] = feature
			}
			for _, segment := range event.Segments {
				segments[segment.ID] = segment
			}
		case "feature-updated":
			features[event.Feature.Name] = event.Feature
		case "feature-removed":
			delete(features, event.FeatureName)
		case "segment-updated":
			segments[event.Segment.ID] = event.Segment
		case "segment-removed":
			delete(segments, event.SegmentID)
		default:
			t.Fatalf("unknown event %q", event.Type)
		}
	}
	return evaluation.Document{
		Features: slices.Collect(maps.Values(features)),
		Segments: slices.Collect(maps.Values(segments)),
	}
}
