package pat_test

import (
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
)

// TestEvents checks what the writes of tokens record: the type depends on the operation, not on the owner. A refused
// write records nothing.
func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 4)
	before := len(f.Events(t))
	assert.OK(t, create(as(t, "ci"), f.pats, pat.AnyKind, expiring("own", 20*day)),
		create(as(t, "Ada"), f.pats, user.ServiceAccount, expiring("theirs", 20*day)),
		create(as(t, "ci"), f.pats, pat.AnyKind, expiring("short", time.Minute)),
		f.pats.Delete(as(t, "Bob"), user.ServiceAccount, 4, 1), f.pats.Delete(as(t, "ci"), pat.AnyKind, 4, 2))
	assert.Equal(t, apierror.NameExists, apierror.KindOf(create(t.Context(), f.pats, pat.AnyKind, expiring("short", day))))
	assert.Equal(t, apierror.NotFound, apierror.KindOf(f.pats.Delete(t.Context(), pat.AnyKind, 4, 1)))
	want := strings.NewReplacer("ONE", `{"id":"1","userId":4,"description":"own","expiresAt":"2026-12-10T05:39:00.123Z"}`,
		"TWO", `{"id":"2","userId":4,"description":"theirs","expiresAt":"2026-12-10T05:39:00.123Z"}`,
		"SHORT", `"userId":4,"description":"short","expiresAt":"2026-11-20T05:40:00.123Z"`,
	).Replace(`pat-created pat:1 by ci: ONE
service-account-token-created pat:2 by Ada: TWO
pat-created pat:3 by ci: {"id":"3",SHORT}
token-expiring pat:3 by system: {"id":3,SHORT,"days":1}
service-account-token-deleted pat:1 by Bob: before ONE
pat-deleted pat:2 by ci: before TWO`)
	assert.Equal(t, want, strings.Join(f.Events(t)[before:], "\n"))
}
