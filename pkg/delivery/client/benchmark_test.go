package client_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/toggle"
	"toggleadmin/test/helper/assert"
)

// BenchmarkEvaluation evaluates a toggle with 120 regular expressions in four strategies, none of which decides: the
// first constraint of each strategy does not hold, and the last strategy holds. The value has 1,000 characters.
func BenchmarkEvaluation(b *testing.B) {
	f := newFixture(b)
	var expressions []toggle.Constraint
	for i := range 30 {
		expressions = append(expressions, toggle.Constraint{
			ContextName: "userId", Operator: toggle.OperatorRegex, Value: fmt.Sprintf(`[a-z0-9._-]{1,64}@example%d\.com$`, i),
		})
	}
	var all []toggle.Strategy
	for range 4 {
		all = append(all, toggle.Strategy{Constraints: append(inNorway(), expressions...)})
	}
	f.put("shop", "toggle", append(all, toggle.Strategy{})...)
	f.compile()
	h := f.processWith(func(c *client.Config) { c.Freshness = time.Hour })
	token := f.token(clienttokentable.Frontend)
	body := `{"context":{"userId":"` + strings.Repeat("a", 1000) + `"}}`
	for name, path := range map[string]string{
		"frontend": "/api/frontend", "OFREP all": "/ofrep/v1/evaluate/flags", "OFREP one": "/ofrep/v1/evaluate/flags/toggle",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				assert.Equal(b, 200, call(h, "POST", path, token, body).status)
			}
		})
	}
}
