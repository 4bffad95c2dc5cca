package webhook

import (
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/app"
)

// NewDeliverFunction returns the handler of functions/deliver-webhook.
func NewDeliverFunction(env *app.Env) (lambda.Handler, error) {
	const urlVariable = "WEBHOOK_URL"
	address, urlErr := env.Var(urlVariable)
	name, nameErr := env.Var("WEBHOOK_SECRET_NAME")
	queue, queueErr := env.Var("WEBHOOK_QUEUE")
	cfg, cfgErr := env.AWSConfig()
	client, err := NewClient(address, env.Now)
	if urlErr == nil && err != nil {
		urlErr = fmt.Errorf("the environment variable %s: %w", urlVariable, err)
	}
	if err := errors.Join(urlErr, nameErr, queueErr, cfgErr); err != nil {
		return nil, err
	}
	h := &Handler{Client: client, Secret: NewSecretStore(cfg, name), Queue: NewQueue(cfg, queue), Now: env.Now, Logger: env.Logger}
	return app.Event(h.Handle), nil
}
