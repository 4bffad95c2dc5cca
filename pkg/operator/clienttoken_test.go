package operator_test

import (
	"testing"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/database"
)

// The limits of the installation apply to client tokens, and expired tokens count. Scripts of cmd/toggleadmin test the
// commands.
func TestLimitsOfClientTokens(t *testing.T) {
	t.Parallel()
	db := database.New(t)
	_, err := environment.NewStore(db.Client, db.Tables, db.Log()).Create(t.Context(),
		environment.Environment{Name: "production", Type: "production"})
	assert.OK(t, err)
	o := newOperator(db, installation.Installation{Name: "the stack", ClientTokenLimit: 1, MaxTokenDays: 30})
	request := operator.ClientTokenRequest{Name: "web", Type: clienttokentable.Frontend, Environment: "production"}
	assert.Equal(t, "2 a token of the stack must expire within 30 days (MaxTokenDays): use a shorter --expires-in or an "+
		"earlier --expires-at\n", statuses(third(o.CreateClientToken(t.Context(), request))))
	request.ExpiresAt = new(now().AddDate(0, 0, 30))
	token, _, err := o.CreateClientToken(t.Context(), request)
	assert.OK(t, err)
	assert.Equal(t, "4 the maximum number of client tokens (1), including expired ones, is reached: delete one first\n",
		statuses(third(o.CreateClientToken(t.Context(), request))))
	assert.OK(t, o.RevokeClientToken(t.Context(), token))
	assert.Equal(t, "3 the client token "+token.ID+" was already revoked\n",
		statuses(o.RevokeClientToken(t.Context(), token)))
}
