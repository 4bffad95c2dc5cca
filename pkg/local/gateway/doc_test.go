package gateway_test

import (
	"testing"

	"toggleadmin/test/table"
)

func TestDocTable(t *testing.T) {
	t.Parallel()
	table.CheckDoc(t, "doc.go")
}
