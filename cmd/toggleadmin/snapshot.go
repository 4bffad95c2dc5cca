package main

import (
	"fmt"
	"strconv"

	"toggleadmin/pkg/evaluation"
	"toggleadmin/pkg/operator"
)

type snapshotCmd struct {
	Show showSnapshotCmd `cmd:"" help:"Print the snapshot of an environment: its version, its age and its toggles."`
}

type showSnapshotCmd struct {
	Environment string   `required:"" placeholder:"NAME" help:"Environment."`
	Project     []string `sep:"none" placeholder:"NAME" help:"What a token of this project downloads. Repeat for more. Without it, that of a token of all projects."`
}

// Validate is called by kong.
func (c *showSnapshotCmd) Validate() error {
	_, err := operator.CheckProjects(c.Project)
	return err
}

func (c *showSnapshotCmd) Run(s *session, o *operator.Operator) error {
	shown, err := o.Snapshot(s.step(), c.Environment, c.Project)
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, shown)
	}
	for _, property := range [][2]string{
		{"Environment", shown.Environment},
		{"Version", fmt.Sprintf("%d, epoch %s", shown.Version, shown.Epoch)},
		{"Tag", shown.Tag},
		{"Compiled", s.timeAndAge(shown.CompiledAt)},
		{"Checked", s.timeAndAge(shown.CheckedAt)},
		{"Toggles", strconv.Itoa(len(shown.Document.Features))},
		{"Segments", strconv.Itoa(len(*shown.Document.Segments))},
		{"Size", fmt.Sprintf("%d bytes, %d with gzip", shown.Size, shown.Compressed)},
	} {
		if _, err := fmt.Fprintf(s.out, "%-12s %s\n", property[0]+":", printable(property[1])); err != nil {
			return err
		}
	}
	if len(shown.Document.Features) == 0 {
		return nil
	}
	fmt.Fprintln(s.out)
	return writeTable(s.out, s.width, []column[evaluation.Feature]{
		{name: "NAME", cell: func(f evaluation.Feature) string { return f.Name }, cut: cutLast, isName: true},
		{name: "STATE", cell: func(f evaluation.Feature) string { return onOff(f.Enabled) }},
		{name: "STRATEGIES", cell: func(f evaluation.Feature) string { return strconv.Itoa(len(f.Strategies)) }},
		{name: "TYPE", cell: func(f evaluation.Feature) string { return f.Type }, cut: cutLast},
		{name: "PROJECT", cell: func(f evaluation.Feature) string { return f.Project }, cut: cutLast},
		{name: "PARENT", cell: parentText, cut: cutLast},
	}, shown.Document.Features)
}

func onOff(enabled bool) string {
	if enabled {
		return "on"
	}
	return "off"
}

// parentText returns the toggle on which a toggle depends, or "".
func parentText(f evaluation.Feature) string {
	for _, d := range f.Dependencies {
		return d.Feature
	}
	return ""
}

// timeAndAge returns a time in the time zone of the process, and how long ago it is.
func (s *session) timeAndAge(at string) string { return localTime(&at) + " (" + s.relative(&at) + ")" }
