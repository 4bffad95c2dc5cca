package contextfield_test

import (
	"fmt"
	"strings"
	"testing"

	"toggleadmin/pkg/api/references"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/operation"
)

// large sends a request with legal values that have a description, and returns the beginning of the response.
func large(t *testing.T, h operation.Set, operationName, name string, values int, description string) string {
	t.Helper()
	legal := make([]string, values)
	for i := range legal {
		legal[i] = fmt.Sprintf(`{"value":"%d","description":"%s"}`, i, description)
	}
	status, _, text := h.Serve(t.Context(), operation.Request{
		Operation: operationName,
		Path:      name,
		Body:      fmt.Sprintf(`{"name":%q,"sortOrder":1,"legalValues":[%s]}`, name, strings.Join(legal, ",")),
	})
	return fmt.Sprintf("%d %.130s", status, text)
}

// Whatever texts fields contain, the list is not larger than the limit, nor much smaller when a field is refused.
func TestListLimit(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	h := handlers(store)
	const refused = "403 NoAccessError: The list of all context fields may have at most 4500000 bytes. " +
		"Delete fields or legal values first."
	text := strings.Repeat(`\"\\<&>\u2028\u0001\u0001\u0001\u0001\u0001ü`, 40)
	got := ""
	for created := 0; !strings.HasPrefix(got, "403"); created++ {
		got = large(t, h, "create", fmt.Sprint(created), 600, text)
	}
	assert.Equal(t, refused, got)
	_, _, list := h.Serve(t.Context(), operation.Request{Operation: "list"})
	response, err := jsonbody.Encode(list) // as Lambda does
	assert.OK(t, err)
	if n := len(response); n > 4_500_000 || n < 3_000_000 {
		t.Errorf("the list has %d bytes, want at most 4,500,000", n)
	}
	assert.Equal(t, refused, large(t, h, "create", "0", 600, text)) // before 409
	assert.Equal(t, "200", large(t, h, "update", "1", 300, text)[:3])
	// A field of the same size, or a smaller one, is not refused.
	for values, want := range map[int]string{300: "200", 299: "200", 0: "200"} {
		assert.Equal(t, want, large(t, h, "update", "1", values, text)[:3])
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
	assert.Equal(t, tooLarge, large(t, h, "create", "f", 1000, more))
	assert.Equal(t, "201", large(t, h, "create", "f", 1000, largest)[:3])
	setReferences(t, db, references.ByProject{strings.Repeat("p", 100): 1})
	assert.Equal(t, tooLarge, large(t, h, "update", "f", 1000, more))
	assert.Equal(t, "200", large(t, h, "update", "f", 999, largest)[:3])
	assert.Equal(t, "200", large(t, h, "update", "f", 1000, largest)[:3])
}
