package dynamodb

import (
	"slices"
	"strings"
)

// action sets an attribute, adds a number to it, or, without a value, removes it.
type action struct {
	path  []string
	value operand
	add   bool
}

// clause reads a clause of an update, such as SET with its actions.
func (p *parser) clause(used map[string]bool) {
	clause := strings.ToUpper(p.next())
	if used[clause] {
		panic(invalid(`Invalid UpdateExpression: The "` + clause + `" section can only be used once in an update expression`))
	}
	for used[clause] = true; ; {
		a := action{path: p.path(), add: clause == "ADD"}
		switch {
		case clause == "SET":
			p.expect("=")
			a.value = p.sum()
		case clause == "ADD" && strings.HasPrefix(p.peek(), ":"):
			a.value = p.operand()
		case clause != "REMOVE":
			p.fail()
		}
		if p.actions = append(p.actions, a); !p.accept(",") {
			return
		}
	}
}

func (p *parser) sum() operand {
	left := p.operand()
	operator := p.peek()
	if operator != "+" && operator != "-" {
		return left
	}
	p.next()
	right := p.operand()
	return func(s *scope) (value, bool) { return sum(must(left)(s), must(right)(s), operator == "-"), true }
}

// update returns an item after the actions. Each of them reads the item as it was before.
func (s *scope) update(actions []action) item {
	next, paths := s.item, make([][]string, len(actions))
	for i, a := range actions {
		for _, name := range a.path {
			paths[i] = append(paths[i], s.name(name))
		}
		for _, other := range paths[:i] {
			if n := min(len(other), len(paths[i])); slices.Equal(other[:n], paths[i][:n]) {
				panic(invalid("Invalid UpdateExpression: Two document paths overlap with each other"))
			}
		}
		if a.value == nil {
			next = next.set(paths[i], nil)
			continue
		}
		v := must(a.value)(s)
		if a.add {
			if len(paths[i]) > 1 {
				panic(invalid("ADD is supported for attributes of the item"))
			}
			if old, ok := s.item.get(paths[i][0]); ok {
				v = sum(old, v, false)
			} else if v.kind != "N" {
				panic(invalid("Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD"))
			}
		}
		next = next.set(paths[i], &v)
	}
	return next
}
