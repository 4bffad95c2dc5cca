package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toggleadmin/pkg/operator/ascode"
	"toggleadmin/pkg/operator/exitstatus"
)

type (
	planCmd struct {
		filesOptions

		DetailedExitcode bool `help:"Exit status 0: nothing changes, 2: something changes, 1: an error."`
	}
	applyCmd  struct{ filesOptions }
	schemaCmd struct{}

	filesOptions struct {
		apiOptions

		Files  []string `short:"f" name:"file" default:"toggles" placeholder:"PATH" help:"File, or folder with files (default toggles). Repeat for more."`
		Source string   `placeholder:"URL" help:"URL of the files, which the toggles that they create have as managedBy (default: the remote of the Git repository, and the folder)."`
		Adopt  bool     `help:"Give all toggles of the files this source."`
		Prune  bool     `help:"Archive the toggles of this source that no file describes. Other resources stay."`
	}
)

// plan returns the plan of the files.
func (o filesOptions) plan(s *session) (*ascode.Client, ascode.Plan, error) {
	resources, err := ascode.Read(o.Files)
	if err != nil {
		return nil, ascode.Plan{}, err
	}
	if o.Prune {
		if err := o.checkPrune(len(ascode.Of(resources, ascode.KindToggle))); err != nil {
			return nil, ascode.Plan{}, err
		}
	}
	source, err := o.source(s.ctx)
	if err != nil {
		return nil, ascode.Plan{}, err
	}
	api, err := s.api()
	if err != nil {
		return nil, ascode.Plan{}, err
	}
	client := ascode.NewClient(api)
	p, err := client.Plan(s.ctx, resources, ascode.Options{Source: source, Prune: o.Prune, Adopt: o.Adopt})
	return client, p, err
}

// checkPrune returns an error unless the files can be all files of their source.
func (o filesOptions) checkPrune(toggles int) error {
	for _, path := range o.Files {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return exitstatus.Errorf(exitstatus.Usage, "--prune needs folders: the file %s does not contain all toggles of its source",
				path)
		}
	}
	if toggles == 0 {
		return exitstatus.Errorf(exitstatus.Usage, "--prune would archive all toggles of the source: the files describe none")
	}
	return nil
}

// source returns the URL of the files, which must be the same for all of them.
func (o filesOptions) source(ctx context.Context) (source string, err error) {
	if o.Source != "" {
		return o.Source, nil
	}
	for i, path := range o.Files {
		of, err := sourceOf(ctx, path)
		if err != nil {
			return "", err
		}
		if i > 0 && of != source {
			return "", exitstatus.Errorf(exitstatus.Usage, "%s and %s are of different sources, %s and %s: use --source URL",
				o.Files[0], path, source, of)
		}
		source = of
	}
	return source, nil
}

// sourceOf returns the URL of the remote of the Git repository of a file or folder, without credentials, and the folder.
func sourceOf(ctx context.Context, path string) (string, error) {
	dir := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		dir = filepath.Dir(path)
	}
	remote, ok := remoteOf(ctx, dir)
	if !ok {
		return "", exitstatus.Errorf(exitstatus.Usage,
			"%s is in no Git repository with a remote origin: use --source URL", path)
	}
	remote.Fragment = strings.TrimSuffix(git(ctx, dir, "rev-parse", "--show-prefix"), "/")
	return remote.String(), nil
}

// remoteOf returns the https URL of the remote of the Git repository of a folder, without credentials.
func remoteOf(ctx context.Context, dir string) (remote *url.URL, ok bool) {
	text := git(ctx, dir, "config", "--get", "remote.origin.url")
	if host, repository, ok := strings.Cut(text, ":"); ok && !strings.Contains(text, "://") { // git@host:repository
		text = "ssh://" + host + "/" + repository
	}
	u, err := url.Parse(strings.TrimSuffix(text, ".git"))
	if err != nil || u.Host == "" {
		return nil, false
	}
	return &url.URL{Scheme: "https", Host: u.Hostname(), Path: u.Path}, true
}

// git returns the output of Git in a folder, or "" if it fails.
func git(ctx context.Context, dir string, args ...string) string {
	//nolint:gosec // the user of the command chooses the folder
	text, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// printPlan prints what a plan changes.
func (o filesOptions) printPlan(s *session, p ascode.Plan) error {
	if s.JSON {
		return printJSON(s.out, append([]ascode.Step{}, p.Steps...))
	}
	numbers, counted, before := map[ascode.Kind]int{}, map[ascode.Ref]bool{}, ascode.Ref{}
	for _, step := range p.Steps {
		if !counted[step.Ref] { // a project can have several steps
			numbers[step.Kind]++
		}
		counted[step.Ref] = true
		name := step.Ref.String()
		if step.Kind == ascode.KindToggle {
			name = step.Name
		}
		if step.Project != "" {
			name += ", project " + step.Project
		}
		if step.Ref != before {
			fmt.Fprintln(s.out, printable(name))
		}
		before = step.Ref
		for _, c := range step.Changes {
			fmt.Fprintf(s.out, "  %s\n", printable(c.Summary))
		}
		for _, note := range step.Requests() {
			fmt.Fprintf(s.out, "  %s\n", printable(note))
		}
	}
	if o.Prune {
		fmt.Fprintln(s.out, "Toggle types, context fields, projects and segments that no file describes stay: --prune archives only toggles.")
	}
	if len(p.Steps) == 0 {
		_, err := fmt.Fprintln(s.out, "nothing changes")
		return err
	}
	texts := []string{}
	if changes := counts(numbers); changes != "" {
		texts = append(texts, changes+" would change, as the event log would record it above")
	}
	if n := numbers[ascode.KindRequest]; n > 0 {
		texts = append(texts, count(n, "change request")+" would be canceled")
	}
	_, err := fmt.Fprintln(s.out, strings.Join(texts, "; "))
	return err
}

// counts returns the numbers of resources that files describe in words.
func counts(numbers map[ascode.Kind]int) string {
	var texts []string
	for _, kind := range ascode.Kinds() {
		if n := numbers[kind]; n > 0 {
			texts = append(texts, count(n, kind.String()))
		}
	}
	if last := len(texts) - 1; last > 0 {
		return strings.Join(texts[:last], ", ") + " and " + texts[last]
	}
	return strings.Join(texts, "")
}

func (c *planCmd) Run(s *session) error {
	_, p, err := c.plan(s)
	if err != nil && c.DetailedExitcode {
		return exitstatus.Errorf(exitstatus.Failure, "%v", err)
	}
	if err != nil {
		return err
	}
	if err := c.printPlan(s, p); err != nil {
		return err
	}
	if c.DetailedExitcode && len(p.Steps) > 0 {
		return exitstatus.Errorf(exitstatus.Changes, "something changes")
	}
	return nil
}

func (c *applyCmd) Run(s *session) error {
	client, p, err := c.plan(s)
	if err != nil {
		return err
	}
	if !s.JSON || len(p.Steps) == 0 {
		if err := c.printPlan(s, p); err != nil {
			return err
		}
	}
	if len(p.Steps) == 0 {
		return nil
	}
	if err := s.confirm("Apply this?"); err != nil {
		return err
	}
	outcomes := []ascode.Outcome{}
	failed, changed := 0, 0
	err = client.Apply(s.ctx, p, func(o ascode.Outcome) {
		outcomes = append(outcomes, o)
		switch {
		case o.Changed:
			changed++
		case o.Error != "":
			failed++
		}
		if !s.JSON {
			fmt.Fprintln(s.out, printable(outcomeText(o)))
		}
	})
	if err != nil {
		return fmt.Errorf("%w; what is left is done by another apply", err)
	}
	if s.JSON {
		if err := printJSON(s.out, outcomes); err != nil {
			return err
		}
	}
	switch {
	case failed > 0:
		return exitstatus.Errorf(exitstatus.Failure, "%d of the plan's changes were refused", failed)
	case changed > 0:
		return exitstatus.Errorf(exitstatus.Rejected, "%s changed since the plan, and nothing was done there; apply again",
			count(changed, "resource"))
	}
	return nil
}

// outcomeText returns what became of a step, in one line.
func outcomeText(o ascode.Outcome) string {
	name := o.Ref.String()
	switch {
	case o.Kind == ascode.KindToggle:
		name = o.Name
	case o.Canceled:
		return fmt.Sprintf("%s of the project %s: canceled", name, o.Project)
	case o.Kind == ascode.KindRequest && o.Error == "":
		return fmt.Sprintf("%s for %s of the project %s", name, o.Environment, o.Project)
	case o.Kind == ascode.KindRequest:
		name = fmt.Sprintf("the change request for %s of the project %s", o.Environment, o.Project)
	case o.Environment != "":
		name += ", environment " + o.Environment
	case o.Group != "":
		name += ", group " + o.Group
	}
	switch {
	case o.Changed:
		return name + ": changed by somebody else since the plan; nothing was done"
	case o.Error != "":
		return name + ": " + o.Error
	}
	return name + ": applied"
}

func (schemaCmd) Run(s *session) error {
	schema, err := ascode.Schema()
	if err != nil {
		return err
	}
	_, err = s.out.Write(schema)
	return err
}
