package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
)

type restoreCmd struct {
	Copies []string `arg:"" name:"table=copy" help:"A table of the installation, such as Users, and the table whose items it gets."`
}

// tables returns the logical id of each table and the name of its copy.
func (c *restoreCmd) tables(known []string) (pairs [][2]string, err error) {
	for _, text := range c.Copies {
		id, source, ok := strings.Cut(text, "=")
		switch {
		case !ok || source == "":
			return nil, fmt.Errorf("%q is not a table and its copy: use TABLE=COPY, such as Users=users-restored", text)
		case !slices.Contains(known, id):
			return nil, fmt.Errorf("%q is not a table: %sthe tables are %s", id, didYouMean(id, known),
				strings.Join(known, ", "))
		case slices.ContainsFunc(pairs, func(p [2]string) bool { return p[0] == id }):
			return nil, fmt.Errorf("the table %s is given twice", id)
		}
		pairs = append(pairs, [2]string{id, source})
	}
	return pairs, nil
}

func (c *restoreCmd) Run(s *session) error {
	i, err := s.open()
	if err != nil {
		return err
	}
	pairs, err := c.tables(slices.Sorted(maps.Keys(i.Tables)))
	if err != nil {
		return exitstatus.Errorf(exitstatus.Usage, "%v", err)
	}
	if err := s.confirm("Replace the items of %s in %s?", strings.Join(c.Copies, ", "), i.Name); err != nil {
		return err
	}
	restored := []installation.Restored{}
	for _, pair := range pairs {
		r, err := i.Restore(s.ctx, pair[0], pair[1], s.now())
		if err != nil {
			return err
		}
		restored = append(restored, r)
		if !s.JSON {
			fmt.Fprintf(s.out, "restored %s: %s written, %d deleted\n", r.Table, count(r.Written, "item"), r.Deleted)
		}
	}
	findings := []doctor.Finding{}
	problems := doctor.Repair(s.ctx, doctor.Config{Installation: i, Now: s.now, Random: s.random,
		Report: s.reporter(&findings)})
	if s.ctx.Err() != nil {
		return exitstatus.Errorf(exitstatus.Failure, "interrupted: run the command again")
	}
	return s.examined(problems, findings, map[string]any{"restored": restored})
}
