package evaluation_test

import (
	"context"
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

const (
	contexts = 10      // for each state
	hostName = "web-1" // of the application
)

var (
	seed   = flag.Uint64("seed", 1, "the seed of the states and contexts")
	states = flag.Int("states", 10_000, "the number of states, each with ten contexts")
)

// TestEngines evaluates the same toggles in Unleash's SDKs. A difference must be one of those in differences_test.go.
func TestEngines(t *testing.T) {
	t.Parallel()
	python, packages := os.Getenv("SDK_YGGDRASIL"), os.Getenv("SDK_JAVASCRIPT")
	if python == "" || packages == "" {
		t.Skip("SDK_YGGDRASIL or SDK_JAVASCRIPT is not set; make test-sdk sets them")
	}
	for _, test := range []struct {
		name            string
		hostile         float64
		node, yggdrasil []difference
	}{
		{"stored", 0, nodeStoredDifferences(), nil},
		{"any", 0.1, nodeDifferences(), yggdrasilDifferences()},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			generator := generator{rand.New(rand.NewPCG(*seed, 0)), test.hostile}
			comparison := &comparison{T: t, node: test.node, yggdrasil: test.yggdrasil, known: map[string]int{}}
			node := start(t, "node", "node.mjs", "unleash-client-6")
			yggdrasil := start(t, python, "yggdrasil.py")
			for range *states / 2 {
				batch := generator.batch()
				node.send(t, batch)
				yggdrasil.send(t, batch)
				comparison.compare(batch, node.receive(t), yggdrasil.receive(t))
			}
			comparison.report()
		})
	}
}

// batch is a state with the contexts that its toggles are evaluated for.
type batch struct {
	State    evaluation.Document `json:"state"`
	Contexts []sdkContext        `json:"contexts"`
}

// sdkContext is a context in the form of SDKs.
type sdkContext map[string]string

// MarshalJSON has fields that are not fixed as properties.
func (c sdkContext) MarshalJSON() ([]byte, error) {
	fields, properties := map[string]any{}, map[string]string{}
	for name, value := range c {
		if toggle.IsFixedField(name) {
			fields[name] = value
		} else {
			properties[name] = value
		}
	}
	fields["properties"] = properties
	return json.Marshal(fields)
}

// output are the results of an engine for a batch.
type output struct {
	Results [][]result // for each context and toggle
	Broken  []string   // the toggles that do not compile
}

type result struct {
	Enabled bool
	Variant string // empty: none
}

func (r *result) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&r.Enabled, &r.Variant})
}

// engine is a process that evaluates batches.
type engine struct {
	requests  *json.Encoder
	responses *json.Decoder
}

func start(t *testing.T, program string, arguments ...string) *engine {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), program, arguments...)
	command.Env = append(os.Environ(), "HOSTNAME="+hostName, "NODE_PATH="+os.Getenv("SDK_JAVASCRIPT"))
	command.Stderr = t.Output()
	stdin, err := command.StdinPipe()
	assert.OK(t, err)
	stdout, err := command.StdoutPipe()
	assert.OK(t, err)
	assert.OK(t, command.Start())
	t.Cleanup(func() {
		stdin.Close()
		assert.OK(t, command.Wait())
	})
	return &engine{json.NewEncoder(stdin), json.NewDecoder(stdout)}
}

func (e *engine) send(t *testing.T, batch batch) {
	t.Helper()
	assert.OK(t, e.requests.Encode(batch))
}

func (e *engine) receive(t *testing.T) output {
	t.Helper()
	var out output
	assert.OK(t, e.responses.Decode(&out))
	return out
}

// comparison counts evaluations and differences.
type comparison struct {
	*testing.T
	node, yggdrasil []difference // that are permitted

	evaluations int
	on          int
	variants    int
	random      int            // evaluations that are not compared, because their results are random
	known       map[string]int // differences, by engine and kind
	unknown     int            // differences of no known kind
}

func (c *comparison) compare(batch batch, node, yggdrasil output) {
	c.Helper()
	engine := evaluation.New(batch.State)
	for i, fields := range batch.Contexts {
		for j := range batch.State.Features {
			input := newInput(batch.State, j, fields, yggdrasil.Broken)
			for _, dependency := range input.feature.Dependencies {
				input.parent, _ = evaluate(engine, dependency.Feature, fields, hostName)
			}
			c.checkNode(engine, input, node.Results[i][j])
			c.checkYggdrasil(engine, input, yggdrasil.Results[i][j])
		}
	}
}

func (c *comparison) checkNode(engine *evaluation.Engine, input *input, theirs result) {
	c.Helper()
	ours, random := evaluate(engine, input.feature.Name, input.fields, hostName)
	c.count(ours, random)
	if !random {
		c.check("Node.js", ours, theirs, input, c.node)
	}
}

// checkYggdrasil evaluates without the name of the host, which yggdrasil does not know in Python.
func (c *comparison) checkYggdrasil(engine *evaluation.Engine, input *input, theirs result) {
	c.Helper()
	ours, random := evaluate(engine, input.feature.Name, input.fields, "")
	c.count(ours, random)
	if !random {
		c.check("yggdrasil", ours, theirs, input, c.yggdrasil)
	}
}

// evaluate also reports whether the result is random.
func evaluate(engine *evaluation.Engine, name string, fields sdkContext, hostName string) (result, bool) {
	random := false
	got := engine.Evaluate(name, &evaluation.Context{
		Fields:   fields,
		Now:      time.Now(),
		HostName: hostName,
		Random: func(uint32) uint32 {
			random = true
			return 0
		},
	})
	if got.Variant == nil {
		return result{got.Enabled, ""}, random
	}
	return result{got.Enabled, got.Variant.Name}, random
}

func (c *comparison) count(ours result, random bool) {
	c.evaluations++
	if ours.Enabled {
		c.on++
	}
	if ours.Variant != "" {
		c.variants++
	}
	if random {
		c.random++
	}
}

// check reports a difference that is of no known kind.
func (c *comparison) check(engine string, ours, theirs result, input *input, differences []difference) {
	c.Helper()
	if ours == theirs {
		return
	}
	for _, difference := range differences {
		if difference.explains(input) {
			c.known[engine+" "+difference.kind]++
			return
		}
	}
	c.unknown++
	if c.unknown <= 5 {
		c.Errorf("%s: %+v, but %+v here:\n%s", engine, theirs, ours, input)
	}
}

func (c *comparison) report() {
	c.Helper()
	c.Logf("%d evaluations: %d are on, %d have a variant, %d are random", c.evaluations, c.on, c.variants, c.random)
	for _, kind := range slices.Sorted(maps.Keys(c.known)) {
		c.Logf("%6d × %s", c.known[kind], kind)
	}
	if c.unknown > 0 {
		c.Errorf("%d differences are of no known kind", c.unknown)
	}
	if c.random > c.evaluations/10 {
		c.Error("more than a tenth is random")
	}
}
