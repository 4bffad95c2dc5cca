package doctor

import (
	"context"
	"fmt"

	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/parameter"
)

// originSecret checks that the secret of which requests of applications must have one can be read and used.
func (d *doctor) originSecret(ctx context.Context, _ installation.Resources) (string, error) {
	name := d.Installation.Stack.Parameters["ClientOriginSecret"]
	if name == "" {
		return "requests of applications need none", errSkip
	}
	text, err := parameter.NewStore(d.Installation.Stack.Config, name).Get(ctx)
	if err != nil {
		return "", err
	}
	if err := client.CheckOriginSecrets(text); err != nil {
		return "", problem(fmt.Sprintf("%s %v", name, err), "store a valid secret, see docs/delivery-operations.md")
	}
	return name + " can be read", nil
}
