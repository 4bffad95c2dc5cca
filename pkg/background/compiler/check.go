package compiler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/toggle"
)

// maxUnchecked is how long ago everything of a snapshot can have been read. A sweep does it every hour.
const maxUnchecked = 2 * time.Hour

// checked is what Check has read of the snapshot of an environment.
type checked struct {
	environment string
	pointer     snapshottable.Pointer
	exists      bool
	document    snapshot.Document
	damage      error // why there is no document
}

// Check compares the snapshots with the tables. It is a consistency.Check. A change of the last seconds, which has not
// been compiled yet, looks like a difference. The repairs compile.
func (c *Compiler) Check(ctx context.Context) (summary string, found []consistency.Inconsistency, err error) {
	names, err := c.environmentNames(ctx)
	if err != nil {
		return "", nil, err
	}
	all := make([]checked, len(names))
	toggles := 0
	for i, name := range names {
		if all[i], err = c.readSnapshot(ctx, name); err != nil {
			return "", nil, err
		}
		toggles += len(all[i].document.Features)
	}
	current, err := c.readContents(ctx)
	if err != nil {
		return "", nil, err
	}
	for _, s := range all {
		differing, err := c.compare(s, current)
		if err != nil {
			return "", nil, err
		}
		found = append(found, differing...)
	}
	return fmt.Sprintf("%d, with %d toggles as in the tables", len(all), toggles), found, nil
}

func (c *Compiler) readSnapshot(ctx context.Context, environment string) (checked, error) {
	pointer, current, exists, err := snapshottable.Current(ctx, c.client, c.snapshots, environment)
	s := checked{environment: environment, pointer: pointer, exists: exists}
	if errors.Is(err, snapshottable.ErrUnreadable) {
		s.damage = err
		return s, nil
	}
	if err != nil {
		return checked{}, err
	}
	s.document, s.damage = current.Document()
	return s, nil
}

// shrink is what an operator can do if the toggles of an environment are too large.
const shrink = "archive toggles, or remove strategies, constraints, payloads and values of segments"

// compare returns the differences between a snapshot and the tables.
func (c *Compiler) compare(s checked, current contents) (found []consistency.Inconsistency, err error) {
	next := newCompilation(s.environment, s.document)
	next.putAll(current)
	want := next.document()
	compile := once(func(ctx context.Context) error { return c.Compile(ctx, s.environment) })
	name := fmt.Sprintf("the snapshot of the environment %q", s.environment)
	switch {
	case !s.exists && len(want.Features) == 0: // before the first sweep of a new installation
	case !s.exists:
		found = append(found, consistency.Inconsistency{
			Text:   fmt.Sprintf("the environment %q has no snapshot", s.environment),
			Repair: compile,
		})
	case s.damage != nil:
		found = append(found, consistency.Inconsistency{
			Text:   s.damage.Error(),
			Repair: compile,
		})
	case s.pointer.Size > int(c.Limit):
		found = append(found, consistency.Inconsistency{
			Text:   fmt.Sprintf("in %q %v", s.environment, c.tooLarge(s.pointer.Size)),
			Advice: shrink,
		})
	default:
		if s.pointer.Size >= c.Limit.Large() {
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("%s has %d bytes, compressed, and at most %d are delivered: above %d, writes that enlarge it "+
					"are rejected", name, s.pointer.Size, c.Limit, c.Limit.Full()),
				Advice: shrink,
			})
		}
		texts, err := differences(s.document, want)
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			found = append(found, consistency.Inconsistency{Text: name + " " + text, Repair: compile})
		}
		if c.now().Sub(s.pointer.CheckedAt) > maxUnchecked {
			found = append(found, consistency.Inconsistency{
				Text:   fmt.Sprintf("%s was last compared with the tables at %s", name, datetime.Format(s.pointer.CheckedAt)),
				Advice: "sweep-snapshots does this every hour: read its log",
			})
		}
		if isAhead(s.pointer, c.now()) {
			found = append(found, consistency.Inconsistency{
				Text: fmt.Sprintf("%s was last compared with the tables at %s, which is in the future: the clock of the process "+
					"that compiled it, or of this computer, is wrong", name, datetime.Format(s.pointer.CheckedAt)),
				Repair: compile,
			})
		}
	}
	for _, reason := range next.kept {
		found = append(found, consistency.Inconsistency{
			Text:   fmt.Sprintf("applications in %q get an earlier state, or none, of %v", s.environment, reason),
			Advice: "correct a toggle that cannot be compiled, or restore the segment that it uses",
		})
	}
	slices.SortStableFunc(found, func(a, b consistency.Inconsistency) int { return strings.Compare(a.Text, b.Text) })
	return found, nil
}

// differences describes how a document differs from the one that the tables result in.
func differences(got, want snapshot.Document) ([]string, error) {
	stored, err := partsOf(got)
	if err != nil {
		return nil, err
	}
	current, err := partsOf(want)
	if err != nil {
		return nil, err
	}
	var texts []string
	for name, part := range current {
		switch old, exists := stored[name]; {
		case !exists:
			texts = append(texts, "lacks "+name)
		case old != part:
			texts = append(texts, "has another state of "+name)
		}
	}
	for name := range stored {
		if _, exists := current[name]; !exists {
			texts = append(texts, "has "+name+", which is not to be delivered")
		}
	}
	return texts, nil
}

// partsOf returns the JSON of the toggles and segments of a document, by what an operator calls them.
func partsOf(d snapshot.Document) (map[string]string, error) {
	parts := map[string]string{}
	for _, f := range d.Features {
		text, err := jsonbody.Encode(struct {
			evaluation.Feature
			Tags []toggle.Tag `json:"tags"`
		}{f, f.Tags})
		if err != nil {
			return nil, err
		}
		parts[fmt.Sprintf("the toggle %q", f.Name)] = string(text)
	}
	for _, s := range d.Segments {
		text, err := jsonbody.Encode(s)
		if err != nil {
			return nil, err
		}
		parts[fmt.Sprintf("the segment %d", s.ID)] = string(text)
	}
	return parts, nil
}

// once returns a function that calls another one until it succeeds. Afterwards it does nothing.
func once(call func(context.Context) error) func(context.Context) error {
	done := false
	return func(ctx context.Context) error {
		if done {
			return nil
		}
		err := call(ctx)
		done = err == nil
		return err
	}
}
