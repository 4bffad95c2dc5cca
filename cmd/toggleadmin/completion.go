package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completeCommand is the command that the shells' scripts call with the words up to the cursor. It prints a candidate a line, with a tab
// and its help where it has one.
const completeCommand = "__complete"

//go:embed completion.bash
var bashScript string

//go:embed completion.zsh
var zshScript string

//go:embed completion.fish
var fishScript string

type shellCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *shellCmd) Run(s *session) error {
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	if _, err := io.WriteString(s.out, script); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// complete prints what can stand in the last word's place.
func complete(out io.Writer, model *kong.Application, words []string) {
	current := ""
	if len(words) > 0 {
		current, words = words[len(words)-1], words[:len(words)-1]
	}
	node := model.Node
	flags := slices.Clone(node.Flags)
	var awaits *kong.Flag // the flag whose value comes next
	values := 0           // arguments before the current word
	for _, word := range words {
		switch {
		case awaits != nil:
			awaits = nil
		case strings.HasPrefix(word, "-") && word != "-":
			awaits = awaiting(flags, word)
		default:
			if child := command(node, word); child != nil {
				node, values = child, 0
				flags = append(flags, node.Flags...)
			} else {
				values++
			}
		}
	}
	offer := func(candidate, help string) {
		if strings.HasPrefix(candidate, current) {
			fmt.Fprintln(out, strings.TrimSuffix(candidate+"\t"+help, "\t"))
		}
	}
	switch {
	case awaits != nil:
		enumerate(offer, awaits.Value)
	case strings.HasPrefix(current, "-"):
		for _, f := range flags {
			if !f.Hidden {
				offer("--"+f.Name, f.Help)
			}
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				offer(child.Name, child.Help)
			}
		}
		if values < len(node.Positional) {
			enumerate(offer, node.Positional[values])
		}
	}
}

func enumerate(offer func(candidate, help string), v *kong.Value) {
	for _, choice := range v.EnumSlice() {
		if choice != "" {
			offer(choice, "")
		}
	}
}

// awaiting gives the flag of a word if its value is the next word.
func awaiting(flags []*kong.Flag, word string) *kong.Flag {
	for _, f := range flags {
		if (word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short)) && !f.IsBool() && !f.IsCounter() {
			return f
		}
	}
	return nil
}

func command(node *kong.Node, word string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == word {
			return child
		}
	}
	return nil
}
