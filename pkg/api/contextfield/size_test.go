package contextfield_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/references"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
)

// large sends a request for the field f with legal values that have a description, and returns the beginning of the
// response.
func large(t *testing.T, h operation.Set, operationName string, values int, description string) string {
	t.Helper()
	legal := make([]string, values)
	for i := range legal {
		legal[i] = fmt.Sprintf(`{"value":"%d","description":"%s"}`, i, description)
	}
	status, _, text := h.Serve(t.Context(), operation.Request{
		Operation: operationName,
		Path:      "f",
		Body:      fmt.Sprintf(`{"name":"f","sortOrder":1,"legalValues":[%s]}`, strings.Join(legal, ",")),
	})
	return fmt.Sprintf("%d %.130s", status, text)
}

// Whatever texts fields contain, the list is not larger than the limit, nor much smaller when a field is refused. A field
// that does not make the list larger is not refused.
func TestListLimit(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("\"\\<&>\u2028\u0001\u0001\u0001\u0001\u0001ü", 40)
	withValues := func(n int) contextfield.ContextField {
		f := contextfield.ContextField{Name: "f"}
		for i := range n {
			f.LegalValues = append(f.LegalValues, contextfield.LegalValue{Value: fmt.Sprint(i), Description: &text})
		}
		return f
	}
	next := withValues(600)
	var all []contextfield.ContextField
	err := contextfield.CheckSizes(all, -1, next)
	for ; err == nil; err = contextfield.CheckSizes(all, -1, next) {
		all = append(all, next)
	}
	assert.Equal(t, "NoAccessError: The list of all context fields may have at most 4500000 bytes. Delete fields or legal values first.",
		err.Error())
	size, err := contextfield.SizeOf(all)
	assert.OK(t, err)
	if size > 4_500_000 || size < 3_000_000 {
		t.Errorf("the list has %d bytes, want at most 4,500,000", size)
	}
	full := append(all, next) // as imports can leave it
	for _, values := range []int{600, 599, 0} {
		assert.OK(t, contextfield.CheckSizes(full, 0, withValues(values)))
	}
}

// A field can have the size of the largest item of DynamoDB. The projects that use it do not count.
func TestLargestField(t *testing.T) {
	t.Parallel()
	store, db := newStore(t)
	h := handlers(store)
	const tooLarge = "413 ContentTooLarge: The context field must not be larger than 409600 bytes; its size is 410009 bytes. " +
		"Shorten or delete legal values."
	largest, more := strings.Repeat("d", 384), strings.Repeat("d", 385)
	assert.Equal(t, tooLarge, large(t, h, "create", 1000, more))
	assert.Equal(t, "201", large(t, h, "create", 1000, largest)[:3])
	setReferences(t, db, references.ByProject{strings.Repeat("p", 100): 1})
	assert.Equal(t, tooLarge, large(t, h, "update", 1000, more))
	assert.Equal(t, "200", large(t, h, "update", 999, largest)[:3])
	assert.Equal(t, "200", large(t, h, "update", 1000, largest)[:3])
}
