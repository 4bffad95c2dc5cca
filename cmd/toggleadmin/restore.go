package main

import (
	"fmt"

	"toggleadmin/pkg/operator/doctor"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
)

type restoreCmd struct {
	Prefix string `arg:"" help:"The beginning of the names of the copies: with restored-, the copy of Users is restored-Users."`
}

func (c *restoreCmd) Run(s *session) error {
	i, err := s.open()
	if err != nil {
		return err
	}
	if err := s.confirm("Replace the items of all tables of %s with those of %s*?", i.Name, c.Prefix); err != nil {
		return err
	}
	restored := []installation.Restored{}
	err = i.Restore(s.ctx, c.Prefix, s.now, func(r installation.Restored) {
		restored = append(restored, r)
		if s.JSON {
			return
		}
		fmt.Fprintf(s.out, "restored %s: %s written, %d deleted\n", r.Table, count(r.Written, "item"), r.Deleted)
		for _, subject := range r.Withdrawn {
			fmt.Fprintf(s.out, "kept %s as it is, because rights were withdrawn from it later\n", subject)
		}
	})
	if err != nil {
		return err
	}
	findings := []doctor.Finding{}
	problems := doctor.Repair(s.ctx, doctor.Config{Installation: i, Now: s.now, Random: s.random,
		Report: s.reporter(&findings)})
	if s.ctx.Err() != nil {
		return exitstatus.Errorf(exitstatus.Failure, "interrupted: run the command again")
	}
	return s.examined(problems, findings, map[string]any{"restored": restored})
}
