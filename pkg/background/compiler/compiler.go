package compiler

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/logging"
)

// Compile publishes the current state of an environment, if it differs from the published one. It reads everything
// again. Changes that were committed before the call are in the snapshot that is the current one when Compile returns.
func (c *Compiler) Compile(ctx context.Context, environment string) error {
	return c.compile(ctx, environment, change{all: true})
}

// compile is Compile, which can be limited to what has changed since the current snapshot.
func (c *Compiler) compile(ctx context.Context, environment string, changed change) error {
	return dynamo.Retry(ctx, func() (bool, error) {
		published, err := c.try(ctx, environment, changed)
		if err != nil {
			err = fmt.Errorf("compile the snapshot of the environment %q: %w", environment, err)
		}
		return published, err
	})
}

// current is the published snapshot of an environment, from which a compilation continues.
type current struct {
	pointer  snapshottable.Pointer
	versions snapshot.Versions
	document snapshot.Document
	readable bool // otherwise nothing is published, or what is published is damaged, and the document is empty
}

// current reads the published snapshot.
func (c *Compiler) current(ctx context.Context, environment string) (current, error) {
	pointer, s, exists, err := snapshottable.Current(ctx, c.client, c.snapshots, environment)
	if err != nil && !errors.Is(err, snapshottable.ErrUnreadable) {
		return current{}, err
	}
	var d snapshot.Document
	if err == nil {
		d, err = s.Document()
	}
	if err != nil {
		c.logger.WarnContext(ctx, "snapshot compiled without the one before", slog.String("environment", environment),
			logging.Cause(err))
		return current{pointer: pointer}, nil
	}
	return current{pointer: pointer, versions: s.Versions, document: d, readable: exists}, nil
}

// try makes one attempt. It returns false if another process has compiled since the attempt began. The order of its
// reads is the reason why snapshots do not go back in time.
func (c *Compiler) try(ctx context.Context, environment string, changed change) (published bool, err error) {
	began := c.now()
	from, err := c.current(ctx, environment)
	if err != nil {
		return false, err
	}
	changed.all = changed.all || !from.readable || !from.pointer.HasTags() || from.pointer.Size > int(c.Limit)
	next := newCompilation(environment, from.document)
	if err := c.read(ctx, next, changed); err != nil {
		return false, err
	}
	d := next.document()
	c.reportKept(ctx, environment, next.kept)
	to := snapshottable.Pointer{Environment: environment}
	if from.readable { // otherwise the versions of the projects can be lost, so that only another epoch can follow
		to = from.pointer
	}
	if changed.all {
		to.Covers, to.CheckedAt = began, began
	}
	if hash := d.Hash(); hash != to.Hash || !to.HasTags() {
		to.Hash = hash
		return c.publish(ctx, from, to, d)
	}
	// Another compilation, which has read an earlier state, must not publish it later.
	return c.point(ctx, from.pointer, to)
}

// publish writes the parts of the next snapshot, then its pointer. If the snapshot is too large to be delivered, the next
// one is the current one without what was turned off or removed.
func (c *Compiler) publish(
	ctx context.Context, from current, to snapshottable.Pointer, d snapshot.Document,
) (published bool, err error) {
	if to.Version == 0 {
		if to.Epoch, err = c.newID(); err != nil {
			return false, err
		}
	}
	to.Version++
	// If the clock is slow, the parts must not look old.
	if to.CompiledAt = c.now(); to.CompiledAt.Before(from.pointer.CheckedAt) {
		to.CompiledAt = from.pointer.CheckedAt
	}
	versions := from.versions.Next(from.document, d, to.Version)
	s, err := snapshot.New(to.Environment, to.Epoch, to.Version, versions, d)
	if err != nil {
		return false, err
	}
	if to.Size = len(s.Body); to.Size > int(c.Limit) {
		if !from.readable {
			return false, fmt.Errorf("%w, and there is no earlier snapshot", c.tooLarge(to.Size))
		}
		c.reportKept(ctx, to.Environment, []error{c.tooLarge(to.Size)})
		d = from.document.Withdraw(d)
		if to.Hash = d.Hash(); to.Hash == from.pointer.Hash && from.pointer.HasTags() {
			unchanged := from.pointer
			unchanged.Size, unchanged.Covers, unchanged.CheckedAt = to.Size, to.Covers, to.CheckedAt
			return c.point(ctx, from.pointer, unchanged)
		}
		versions = from.versions.Next(from.document, d, to.Version)
		if s, err = snapshot.New(to.Environment, to.Epoch, to.Version, versions, d); err != nil {
			return false, err
		}
	}
	if to.PartsID, err = c.newID(); err != nil {
		return false, err
	}
	parts, ofTags, err := snapshottable.MarshalParts(s, to.PartsID, to.CompiledAt)
	if err != nil {
		return false, err
	}
	to.Parts, to.TagParts = len(parts)-ofTags, ofTags
	if err := c.putParts(ctx, parts); err != nil {
		return false, err
	}
	return c.point(ctx, from.pointer, to)
}

// point moves the pointer, and reports the size of what it points to.
func (c *Compiler) point(ctx context.Context, from, to snapshottable.Pointer) (moved bool, err error) {
	moved, err = c.movePointer(ctx, from, to)
	if err != nil || !moved {
		return moved, err
	}
	c.reportSize(ctx, to)
	if c.isFull(from) != c.isFull(to) {
		err = c.environments.SetFull(ctx, to.Environment, c.isFull(to))
	}
	return true, err
}

// isFull reports whether writes that enlarge the snapshot of a pointer are rejected.
func (c *Compiler) isFull(p snapshottable.Pointer) bool { return p.Size >= c.Limit.Full() }

// correctFull corrects which environments are full, for the case that a compilation did not end, or that the table was
// restored.
func (c *Compiler) correctFull(
	ctx context.Context, all []environment.Environment, pointers map[string]snapshottable.Pointer,
) error {
	for _, e := range all {
		if p, exists := pointers[e.Name]; exists && e.Full != c.isFull(p) {
			if err := c.environments.SetFull(ctx, e.Name, c.isFull(p)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tooLarge returns an error that describes a body that cannot be delivered.
func (c *Compiler) tooLarge(size int) error {
	return fmt.Errorf("the toggles have %d bytes, compressed, and the limit is %d: applications get what is turned off "+
		"or removed, and no other change", size, c.Limit)
}

// idBytes is the number of random bytes of an epoch and of an id of parts.
const idBytes = 4

func (c *Compiler) newID() (string, error) {
	id := make([]byte, idBytes)
	if _, err := io.ReadFull(c.random, id); err != nil {
		return "", fmt.Errorf("draw random digits: %w", err)
	}
	return hex.EncodeToString(id), nil
}

// reportSize logs that the toggles of an environment come close to what can be delivered.
func (c *Compiler) reportSize(ctx context.Context, p snapshottable.Pointer) {
	if p.Size < c.Limit.Large() {
		return
	}
	line := []slog.Attr{slog.String("environment", p.Environment), slog.Int("bytes", p.Size),
		slog.Int("limit", int(c.Limit)), slog.Int("large", 1)}
	line = append(line, logging.Metrics("ToggleAdmin/Delivery", c.Function, c.now(), line,
		logging.Metric{Name: "large", Unit: "Count"})...)
	c.logger.LogAttrs(ctx, slog.LevelWarn, "the toggles of an environment are nearly too large for applications", line...)
}

// reportEvents logs the number of events of the last minutes. An alarm compares it with the invocations of the functions
// that read streams, so that it is needed only on AWS.
func (c *Compiler) reportEvents(ctx context.Context, recent []eventlog.Event, now time.Time) {
	var all, ofTypes int
	for _, e := range recent {
		if e.CreatedAt().Before(now.Add(-countFor)) {
			continue
		}
		all++
		if e.Type == eventlog.FeatureTypeCreated || e.Type == eventlog.FeatureTypeUpdated {
			ofTypes++
		}
	}
	if all == 0 || c.Function == "" {
		return
	}
	line := []slog.Attr{slog.Int("recentEvents", all), slog.Int("recentTypeEvents", ofTypes)}
	line = append(line, logging.Metrics("ToggleAdmin/Delivery", c.Function, now, line,
		logging.Metric{Name: "recentEvents", Unit: "Count"}, logging.Metric{Name: "recentTypeEvents", Unit: "Count"})...)
	c.logger.LogAttrs(ctx, slog.LevelInfo, "recent events counted", line...)
}

// reportKept logs toggles that keep their part of the previous snapshot.
func (c *Compiler) reportKept(ctx context.Context, environment string, kept []error) {
	for _, reason := range kept {
		line := []slog.Attr{slog.String("environment", environment), slog.Int("kept", 1), logging.Cause(reason)}
		line = append(line, logging.Metrics("ToggleAdmin/Delivery", c.Function, c.now(), line,
			logging.Metric{Name: "kept", Unit: "Count"})...)
		c.logger.LogAttrs(ctx, slog.LevelError, "toggle kept from an earlier snapshot", line...)
	}
}
