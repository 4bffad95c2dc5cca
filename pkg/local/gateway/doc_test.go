package gateway_test

import (
	"testing"

	"toggleadmin/test/doctable"
)

func TestDocTable(t *testing.T) {
	t.Parallel()
	doctable.Check(t, "doc.go")
}
