package operator_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/assert"
	"toggleadmin/test/database"
)

// TestDisableWarnings checks the warning for somebody who was never linked. A script of cmd/toggleadmin tests that for
// the last Admin.
func TestDisableWarnings(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	i := &installation.Installation{Client: db.Client, Tables: db.Tables}
	o := operator.New(i, time.Now, rand.Reader)
	ada, err := o.AddAccount(t.Context(), user.Person, "Ada", "ada@example.com", "Editor")
	assert.OK(t, err)
	expect := func(want string) {
		t.Helper()
		warnings, err := o.DisableWarnings(t.Context(), ada)
		if got := strings.Join(warnings, "\n"); err != nil || (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	expect("") // nobody can sign in without an issuer
	i.Issuer = "https://issuer.example.com"
	expect("Ada (1) is not linked to an identity.")
	if ada, _, err = o.Link(t.Context(), ada.ID, operator.Identity{Issuer: i.Issuer, Subject: "ada"}); err != nil {
		t.Fatal(err)
	}
	expect("")
}
