package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh" help:"bash or zsh. In its start-up file: source <(toggleadmin completion bash)"`
}

// Run prints the script of a shell, which knows the commands and options of this version.
func (c *completionCmd) Run(s *session, k *kong.Context) error {
	if c.Shell == "zsh" {
		fmt.Fprintln(s.out, "autoload -U +X bashcompinit && bashcompinit")
	}
	_, err := fmt.Fprint(s.out, completion(k.Model.Node))
	return err
}

// completion returns the script for bash. It finds the command in the words before the cursor, and proposes what
// follows the command.
func completion(root *kong.Node) string {
	var commands, words strings.Builder
	var visit func(n *kong.Node, path string)
	visit = func(n *kong.Node, path string) {
		var next []string
		for _, child := range n.Children {
			if child.Type != kong.CommandNode || child.Hidden {
				continue
			}
			next = append(next, child.Name)
			patterns := []string{fmt.Sprintf("'%s %s'", path, child.Name)}
			for _, alias := range child.Aliases {
				patterns = append(patterns, fmt.Sprintf("'%s %s'", path, alias))
			}
			fmt.Fprintf(&commands, "      %s) path='%s %s' ;;\n", strings.Join(patterns, " | "), path, child.Name)
			visit(child, path+" "+child.Name)
		}
		for _, group := range n.AllFlags(true) {
			for _, f := range group {
				next = append(next, "--"+f.Name)
			}
		}
		fmt.Fprintf(&words, "    '%s') words='%s' ;;\n", path, strings.Join(next, " "))
	}
	visit(root, root.Name)
	return fmt.Sprintf(`_toggleadmin() {
  local word words path='%s'
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
%s    esac
  done
  case "$path" in
%s  esac
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _toggleadmin toggleadmin
`, root.Name, commands.String(), words.String())
}
