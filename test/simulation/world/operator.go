package world

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/dynamo"
)

// errInterrupted is the error of a command that the operator interrupts.
var errInterrupted = errors.New("the operator has interrupted the command")

// command runs a command of toggleadmin, with the operator of the actor.
func (a *actor) command(what string, run func(context.Context) error) *op {
	a.n++
	p := a.newProcess(fmt.Sprintf("%s/%d", a.name, a.n))
	p.skew *= operatorSkews
	a.operator = a.newOperator(p)
	o, ctx := a.begin()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	done := make(chan error, 1)
	a.spawn(func() { done <- run(ctx) })
	var err error
	select {
	case err = <-done:
	case <-p.ended:
		err = errEnded
		cancel()
	}
	a.turn(a.name)
	status := exitstatus.Of(err)
	o.ended, o.unknown = time.Now(), status == exitstatus.Failure
	o.status = map[exitstatus.Status]int{
		exitstatus.Success: http.StatusOK, exitstatus.NotFound: http.StatusNotFound,
		exitstatus.Failure: http.StatusInternalServerError,
	}[status]
	if o.unknown && !errors.Is(err, errEnded) && !errors.Is(err, dynamo.ErrUnavailable) {
		a.fail("%s: toggleadmin %s: %v", a.name, what, err)
	}
	if o.unknown && !p.broken.Load() && !a.over && !errors.Is(err, errInterrupted) && o.ended.Sub(o.begun) < time.Minute {
		a.fail("%s: toggleadmin %s fails although DynamoDB has only throttled its calls: %v", a.name, what, err)
	}
	a.digest(hashOf(a.name), uint64(status))
	a.note("%s: toggleadmin %s → %d %v", a.name, what, status, err)
	return o
}

func errorOf[T any](_ T, _ bool, err error) error { return err }

func (w *World) newOperator(p *process) *operator.Operator {
	return operator.New(w.newInstallation(p), p.now, p)
}

func (w *World) newInstallation(p *process) *installation.Installation {
	client, err := dynamo.NewOperatorClient(p.config(), "")
	w.must(err)
	return &installation.Installation{
		Name: "the simulation", Tables: w.tables, TokenLimit: w.tokenLimit(), AccountLimit: user.DefaultLimit,
		EventSource: source, Issuer: "https://" + issuerHost, Client: client,
	}
}
