package evaluation_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/assert"
)

// specification is a file of @unleash/client-specification, by which the authors of SDKs test them.
type specification struct {
	State struct {
		evaluation.State
		Events []deltaEvent `json:"events"` // instead of the state
	} `json:"state"`
	Tests []struct {
		Description    string          `json:"description"`
		Context        json.RawMessage `json:"context"`
		ToggleName     string          `json:"toggleName"`
		ExpectedResult bool            `json:"expectedResult"`
	} `json:"tests"`
	VariantTests []struct {
		Description    string          `json:"description"`
		Context        json.RawMessage `json:"context"`
		ToggleName     string          `json:"toggleName"`
		ExpectedResult variantResult   `json:"expectedResult"`
	} `json:"variantTests"`
}

type variantResult struct {
	Name           string          `json:"name"`
	Enabled        bool            `json:"enabled"`
	FeatureEnabled bool            `json:"feature_enabled"`
	Payload        *toggle.Payload `json:"payload"`
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

func TestClientSpecification(t *testing.T) {
	t.Parallel()
	const folder = "../../node_modules/@unleash/client-specification/specifications/"
	paths, err := filepath.Glob(folder + "[0-9]*.json")
	assert.OK(t, err)
	if len(paths) == 0 {
		t.Skip("the npm packages are not installed: run make node_modules/.installed")
	}
	cases := 0
	for _, path := range paths {
		content, err := os.ReadFile(path)
		assert.OK(t, err)
		var file specification
		assert.OK(t, json.Unmarshal(content, &file))
		name := filepath.Base(path)
		cases += len(file.Tests) + len(file.VariantTests)

		engine := evaluation.New(file.state(t))
		for _, test := range file.Tests {
			ctx := parseContext(t, test.Context)
			if got := engine.Enabled(test.ToggleName, ctx); got != test.ExpectedResult {
				t.Errorf("%s: %s: %t", name, test.Description, got)
			}
		}
		for _, test := range file.VariantTests {
			ctx := parseContext(t, test.Context)
			got := variantOf(engine.Evaluate(test.ToggleName, ctx))
			if diff := cmp.Diff(test.ExpectedResult, got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, test.Description, diff)
			}
		}
	}
	if cases != 279 {
		t.Errorf("%d cases, want 279", cases)
	}
}

func (s specification) state(t *testing.T) evaluation.State {
	t.Helper()
	if s.State.Events == nil {
		return s.State.State
	}
	features := map[string]evaluation.Feature{}
	segments := map[int64]toggle.Segment{}
	for _, event := range s.State.Events {
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
	return evaluation.State{
		Features: slices.Collect(maps.Values(features)),
		Segments: slices.Collect(maps.Values(segments)),
	}
}

// parseContext reads a context of an SDK: fixed fields beside the object properties. Values that are null are absent.
func parseContext(t *testing.T, data []byte) *evaluation.Context {
	t.Helper()
	var all map[string]any
	assert.OK(t, json.Unmarshal(data, &all))
	properties, _ := all["properties"].(map[string]any)
	maps.Copy(all, properties)
	ctx := &evaluation.Context{Fields: map[string]string{}, Now: time.Now(), Random: rand.Uint32N}
	for name, value := range all {
		if text, ok := value.(string); ok {
			ctx.Fields[name] = text
		}
	}
	return ctx
}

func variantOf(result evaluation.Result) variantResult {
	if result.Variant == nil {
		return variantResult{Name: "disabled", FeatureEnabled: result.Enabled}
	}
	return variantResult{result.Variant.Name, true, result.Enabled, result.Variant.Payload}
}
