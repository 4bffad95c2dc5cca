package client

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/test/helper/assert"
)

// A client that changes its query with each request does not fill the memory of a process.
func TestKeptBodies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	d := snapshot.NewDocument([]evaluation.Feature{{Name: "a", Project: "web", Description: &long}}, nil)
	s, err := snapshot.New("production", "e", 1, nil, d)
	assert.OK(t, err)
	v := newView(s)
	for i := range 20 {
		body, err := v.response(snapshot.NewSelection(snapshot.Query{Projects: []string{"web", fmt.Sprint(i)}}), false)
		assert.OK(t, err)
		assert.Equal(t, true, len(body) > len(long))
		kept := 0
		for _, b := range v.bodies {
			kept += len(b)
		}
		assert.Equal(t, true, kept > 0 && kept <= maxBodiesSize)
	}
}
