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

// createColumns is the header of tokens to create.
func createColumns() []string { return []string{"name", "environment", "projects", "type"} }

// importColumns is the header of the file.
func importColumns() []string { return append([]string{"secret"}, createColumns()...) }

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
func (c *importClientTokensCmd) read(s *session) ([]operator.ClientTokenLine, error) {
	if c.FromCSV == "" {
		return readClientTokens(s.in, importColumns())
	}
	file, err := os.Open(c.FromCSV)
	if err != nil {
		return nil, exitstatus.Errorf(exitstatus.Usage, "the file cannot be read: %v", err)
	}
	defer file.Close()
	return readClientTokens(file, importColumns())
}

// readClientTokens reads client tokens from CSV with a header. Errors name the line, and do not contain what it has.
func readClientTokens(in io.Reader, columns []string) (tokens []operator.ClientTokenLine, err error) {
	content, err := io.ReadAll(io.LimitReader(in, maxImport+1))
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	if len(content) > maxImport {
		return nil, exitstatus.Errorf(exitstatus.Usage, "the tokens have more than %d bytes", maxImport)
	}
	lines := csv.NewReader(bytes.NewReader(decode(content)))
	lines.FieldsPerRecord = len(columns)
	header, err := lines.Read()
	if err != nil || !slices.Equal(header, columns) {
		return nil, exitstatus.Errorf(exitstatus.Usage, "the first line must be %s", strings.Join(columns, ","))
	}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil { // without the text of the line
			return nil, exitstatus.Errorf(exitstatus.Usage, "the tokens are not CSV with %d columns: %v", len(columns), err)
		}
		var t operator.ClientTokenLine
		t.Line, _ = lines.FieldPos(0)
		for i, column := range columns {
			switch value := fields[i]; column {
			case "secret":
				t.Secret = value
			case "name":
				t.Name = value
			case "environment":
				t.Environment = value
			case "projects":
				for project := range strings.SplitSeq(value, ";") {
					t.Projects = append(t.Projects, strings.TrimSpace(project))
				}
			case "type":
				t.Type = clienttokentable.Type(value)
			}
		}
		if t.Type == clienttokentable.OldBackend {
			t.Type = clienttokentable.Backend
		}
		tokens = append(tokens, t)
	}
}
