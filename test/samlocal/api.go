package samlocal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"time"
)

// startTimeout bounds the start of `sam local start-api`. Usual are seconds; the first start may have to get an image.
const startTimeout = 10 * time.Minute

// API is a running `sam local start-api`.
type API struct {
	URL string

	stop  context.CancelFunc
	ended chan struct{}
	err   error // once it has ended: nil where that was our wish
}

// ErrEnded says that sam ended by itself. Its log says why.
var ErrEnded = errors.New("sam local start-api has ended")

// StartAPI serves the API on a port of 127.0.0.1 (0: a free one) and waits until it answers. The context's end ends it, as Stop does.
// Functions keep their containers from their first call on. sam's log, with those of the functions, goes to log.
func (c CLI) StartAPI(ctx context.Context, port int, log io.Writer) (*API, error) {
	address, err := reserve(ctx, port)
	if err != nil {
		return nil, err
	}
	_, number, _ := net.SplitHostPort(address)
	ctx, stop := context.WithCancel(ctx)
	command := c.command(ctx, "start-api", "--host", "127.0.0.1", "--port", number)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		stop()
		return nil, fmt.Errorf("start sam: %w", err)
	}
	api := &API{URL: "http://" + address, stop: stop, ended: make(chan struct{})}
	go api.await(ctx, command)
	if err := api.ready(ctx, address); err != nil {
		return nil, errors.Join(err, api.Stop())
	}
	return api, nil
}

// Ended is closed when sam has ended; then Stop says why.
func (a *API) Ended() <-chan struct{} { return a.ended }

// Stop ends sam and its containers, and waits for that. It gives ErrEnded where sam had ended by itself before.
func (a *API) Stop() error {
	a.stop()
	<-a.ended
	return a.err
}

func (a *API) await(ctx context.Context, command *exec.Cmd) {
	defer close(a.ended)
	if err := command.Wait(); ctx.Err() == nil {
		a.err = ErrEnded
		if err != nil {
			a.err = fmt.Errorf("%w: %w", ErrEnded, err)
		}
	}
}

// ready waits until something listens at the address.
func (a *API) ready(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var dialer net.Dialer
	for {
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return connection.Close()
		}
		select {
		case <-a.ended:
			return errors.New("sam local start-api has not come to answer")
		case <-ctx.Done():
			return fmt.Errorf("wait for sam local start-api: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// reserve gives the address of a port that is free now. sam cannot be handed a listener, so somebody else may take it first: then sam ends.
func reserve(ctx context.Context, port int) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}
