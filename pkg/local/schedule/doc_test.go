package schedule_test

import (
	"testing"

	"toggleadmin/test/doctable"
)

func TestTheTableAndTheTestsAgree(t *testing.T) {
	t.Parallel()
	doctable.Check(t, "schedule.go")
}
