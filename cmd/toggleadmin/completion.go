package main

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// completeCommand is what the completion scripts call, followed by the words up to the cursor. It prints one candidate
// per line, followed by a tab and the help text.
const completeCommand = "__complete"

//go:embed completion.bash completion.zsh completion.fish
var scripts embed.FS

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *completionCmd) Run(s *session) error {
	script, err := scripts.ReadFile("completion." + c.Shell)
	if err != nil {
		return err
	}
	_, err = s.out.Write(script)
	return err
}

// complete prints the candidates for the last word.
func complete(out io.Writer, parser *kong.Kong, words []string) {
	if len(words) == 0 {
		return
	}
	before, current := words[:len(words)-1], words[len(words)-1]
	offer := func(candidate, help string) {
		if candidate != "" && strings.HasPrefix(candidate, current) {
			fmt.Fprintln(out, strings.TrimSuffix(candidate+"\t"+help, "\t"))
		}
	}
	offerEnum := func(v *kong.Value) {
		for _, value := range v.EnumSlice() {
			offer(value, "")
		}
	}
	parsed, err := kong.Trace(parser, before) // parsed contains what is valid; its error does not matter here
	if err != nil {
		return
	}
	node, arguments := parser.Model.Node, 0
	for _, path := range parsed.Path {
		if path.Command != nil {
			node = path.Command
		}
		if path.Positional != nil {
			arguments++
		}
	}
	for _, flag := range parsed.Flags() {
		if len(before) > 0 && before[len(before)-1] == "--"+flag.Name && !flag.IsBool() {
			offerEnum(flag.Value)
			return
		}
		if strings.HasPrefix(current, "-") {
			offer("--"+flag.Name, flag.Help)
		}
	}
	for _, child := range node.Children {
		offer(child.Name, child.Help)
	}
	if arguments < len(node.Positional) {
		offerEnum(node.Positional[arguments])
	}
}
