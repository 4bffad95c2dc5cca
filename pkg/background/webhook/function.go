package webhook

import (
	"errors"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/app"
)

// NewDeliverFunction returns the handler of functions/deliver-webhook.
func NewDeliverFunction(env *app.Env) (lambda.Handler, error) {
	name, nameErr := env.Var("WEBHOOK_SECRET_NAME")
	queue, queueErr := env.Var("WEBHOOK_QUEUE")
	failures, failuresErr := env.Var("WEBHOOK_FAILURES")
	cfg, cfgErr := env.AWSConfig()
	if err := errors.Join(nameErr, queueErr, failuresErr, cfgErr); err != nil {
		return nil, err
	}
	h := &Handler{
		Parameter: NewParameterStore(cfg, name), Queue: NewQueue(cfg, queue, failures), Loopback: env.Local,
		Transport: env.Transport,
		Now:       env.Now, Logger: env.Logger,
	}
	return app.Event(h.Handle), nil
}
