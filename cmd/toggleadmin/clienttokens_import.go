package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
)

type importClientTokensCmd struct {
	FromCSV string `name:"from-csv" placeholder:"FILE" help:"File with the tokens. Without it, they are read from stdin."`
	DryRun  bool   `help:"Only print what would be imported."`
}

// Help is called by kong.
func (*importClientTokensCmd) Help() string {
	return "Applications keep their secrets, which no output contains. The file has the header " +
		"secret,name,environment,projects,type. Several projects are separated by ;, and * stands for all. The type is " +
		"backend (or client) or frontend. If one line cannot be imported, none is."
}

// importColumns is the header of the file.
func importColumns() []string { return []string{"secret", "name", "environment", "projects", "type"} }

// maxImport is the maximum size of the file, in bytes.
const maxImport = 10_000_000

func (c *importClientTokensCmd) Run(s *session, o *operator.Operator) error {
	tokens, err := c.read(s)
	if err != nil {
		return err
	}
	result, err := o.ImportClientTokens(s.ctx, tokens, c.DryRun)
	if err != nil {
		return err
	}
	done := "imported"
	if c.DryRun {
		done = "would import"
	}
	if !s.JSON {
		for _, t := range result.Created {
			s.inform("%s the %s", done, describeClientToken(t))
		}
	}
	return s.result(result, "%s %s, %d unchanged", done, count(len(result.Created), "token"), result.Unchanged)
}

// read reads the file, or stdin. Errors name the line, and do not contain what it has.
func (c *importClientTokensCmd) read(s *session) ([]operator.ClientTokenImport, error) {
	in := s.in
	if c.FromCSV != "" {
		file, err := os.Open(c.FromCSV)
		if err != nil {
			return nil, exitstatus.Errorf(exitstatus.Usage, "the file cannot be read: %v", err)
		}
		defer file.Close()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, maxImport+1))
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	if len(content) > maxImport {
		return nil, exitstatus.Errorf(exitstatus.Usage, "the tokens have more than %d bytes", maxImport)
	}
	return parseClientTokens(content)
}

func parseClientTokens(content []byte) (tokens []operator.ClientTokenImport, err error) {
	lines := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff"))))
	lines.FieldsPerRecord = len(importColumns())
	header, err := lines.Read()
	if err != nil || !slices.Equal(header, importColumns()) {
		return nil, exitstatus.Errorf(exitstatus.Usage, "the first line must be %s", strings.Join(importColumns(), ","))
	}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil { // without the text of the line
			return nil, exitstatus.Errorf(exitstatus.Usage, "the tokens are not CSV with %d columns: %v", len(importColumns()), err)
		}
		line, _ := lines.FieldPos(0)
		t := operator.ClientTokenImport{Line: line, Secret: fields[0]}
		t.Name, t.Environment, t.Type = fields[1], fields[2], clienttokentable.Type(fields[4])
		if t.Type == clienttokentable.OldBackend {
			t.Type = clienttokentable.Backend
		}
		for project := range strings.SplitSeq(fields[3], ";") {
			t.Projects = append(t.Projects, strings.TrimSpace(project))
		}
		tokens = append(tokens, t)
	}
}
