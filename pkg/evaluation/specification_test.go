package evaluation_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/specification"
)

func TestClientSpecification(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, file := range specification.Files(t) {
		engine := evaluation.New(file.State)
		for _, c := range file.Cases {
			cases++
			ctx := parseContext(t, c.Context)
			if got := engine.Enabled(c.Toggle, ctx); got != c.Enabled {
				t.Errorf("%s: %s: %t", file.Name, c.Description, got)
			}
			if c.Variant == nil {
				continue
			}
			if diff := cmp.Diff(*c.Variant, variantOf(engine.Evaluate(c.Toggle, ctx))); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", file.Name, c.Description, diff)
			}
		}
	}
	assert.Equal(t, specification.Count, cases)
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

func variantOf(result evaluation.Result) specification.Variant {
	if result.Variant == nil {
		return specification.Variant{Name: "disabled", FeatureEnabled: result.Enabled}
	}
	return specification.Variant{
		Name: result.Variant.Name, Enabled: true, FeatureEnabled: result.Enabled, Payload: result.Variant.Payload,
	}
}
