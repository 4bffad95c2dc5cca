package dynamodb

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// expression is a parsed condition, filter, key condition or update.
type expression struct {
	kind      string // such as ConditionExpression, for messages
	condition condition
	actions   []action // of an update
	refs      []string // the #names and :values
}

// scope is what an expression is evaluated with.
type scope struct {
	names  map[string]string
	values item
	item   item
}

type (
	condition func(*scope) bool
	operand   func(*scope) (value, bool) // false: the attribute does not exist
)

// action sets an attribute, adds a number to it, or, without a value, removes it.
type action struct {
	path  []string
	value operand
	add   bool
}

var tokens = regexp.MustCompile(`[#:]?\w+|<>|<=|>=|\S`)

type parser struct {
	expression
	tokens []string
}

// parse parses an expression. Keywords can have any case.
func (db *DB) parse(kind, text string) *expression {
	if parsed := db.expressions[kind+text]; parsed != nil {
		return parsed
	}
	p := &parser{expression{kind: kind}, tokens.FindAllString(text, -1)}
	if kind != "UpdateExpression" {
		p.condition = p.or()
	} else {
		for p.clause(); p.peek() != ""; {
			p.clause()
		}
	}
	if len(p.tokens) > 0 {
		p.fail()
	}
	db.expressions[kind+text] = &p.expression
	return &p.expression
}

func (p *parser) fail() {
	panic(invalid("Invalid " + p.kind + `: Syntax error; token: "` + cmp.Or(p.peek(), "<EOF>") + `"`))
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) next() string {
	token := p.peek()
	if token == "" {
		p.fail()
	}
	p.tokens = p.tokens[1:]
	return token
}

func (p *parser) accept(token string) bool {
	if !strings.EqualFold(p.peek(), token) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) expect(token string) {
	if !p.accept(token) {
		p.fail()
	}
}

func (p *parser) or() condition {
	left := p.and()
	if !p.accept("OR") {
		return left
	}
	right := p.or()
	return func(s *scope) bool { return left(s) || right(s) }
}

func (p *parser) and() condition {
	left := p.term()
	if !p.accept("AND") {
		return left
	}
	right := p.and()
	return func(s *scope) bool { return left(s) && right(s) }
}

func (p *parser) term() condition {
	if p.accept("(") {
		c := p.or()
		p.expect(")")
		return c
	}
	if function := p.peek(); function == "attribute_exists" || function == "attribute_not_exists" {
		p.next()
		path := p.arguments(1)[0]
		return func(s *scope) bool { _, ok := path(s); return ok == (function == "attribute_exists") }
	}
	left, operator := p.operand(), strings.ToUpper(p.next())
	var others []operand
	switch operator {
	case "=", "<>", "<", "<=", ">", ">=":
		others = []operand{p.operand()}
	case "BETWEEN":
		low := p.operand()
		p.expect("AND")
		others = []operand{low, p.operand()}
	case "IN":
		others = p.arguments(0)
	default:
		p.fail()
	}
	return func(s *scope) bool {
		if operator == "BETWEEN" {
			return compare(s, left, ">=", others[0]) && compare(s, left, "<=", others[1])
		}
		return slices.ContainsFunc(others, func(o operand) bool { return compare(s, left, operator, o) })
	}
}

func compare(s *scope, left operand, operator string, right operand) bool {
	a, found := left(s)
	b, ok := right(s)
	equal := found && ok && a.equal(b)
	ordered := found && ok && a.kind == b.kind && (a.kind == "S" || a.kind == "N")
	switch operator {
	case "=", "IN":
		return equal
	case "<>":
		return !equal
	case "<", "<=":
		return ordered && (a.key() < b.key() || equal && operator == "<=")
	default:
		return ordered && (a.key() > b.key() || equal && operator == ">=")
	}
}

// arguments reads the operands of a function; n is their number, 0: any.
func (p *parser) arguments(n int) (all []operand) {
	p.expect("(")
	for all = append(all, p.operand()); p.accept(","); {
		all = append(all, p.operand())
	}
	if p.expect(")"); n > 0 && len(all) != n {
		p.fail()
	}
	return all
}

func (p *parser) operand() operand {
	switch token := p.peek(); {
	case strings.HasPrefix(token, ":"):
		p.refs = append(p.refs, p.next())
		return func(s *scope) (value, bool) { return s.values.get(token) }
	case token == "size" && p.kind != "UpdateExpression":
		p.next()
		of := p.arguments(1)[0]
		return func(s *scope) (value, bool) {
			v, ok := of(s)
			n := map[string]int{"S": len([]rune(v.text)), "B": len(v.text), "L": len(v.list), "M": len(v.item)}
			count, sized := n[v.kind]
			return value{kind: "N", text: strconv.Itoa(count)}, ok && sized
		}
	case token == "if_not_exists" && p.kind == "UpdateExpression":
		p.next()
		arguments := p.arguments(2)
		return func(s *scope) (value, bool) {
			if v, ok := arguments[0](s); ok {
				return v, true
			}
			return arguments[1](s)
		}
	}
	path := p.path()
	return func(s *scope) (v value, ok bool) {
		v.item = s.item
		for _, name := range path {
			if v, ok = v.item.get(s.name(name)); !ok {
				return v, false
			}
		}
		return v, true
	}
}

func (p *parser) path() (path []string) {
	for {
		name := p.peek()
		if strings.Trim(name[min(1, len(name)):], wordCharacters) != "" || !strings.ContainsAny(name, wordCharacters) ||
			name[0] == ':' {
			p.fail()
		}
		if p.next(); name[0] == '#' {
			p.refs = append(p.refs, name)
		}
		if path = append(path, name); !p.accept(".") {
			return path
		}
	}
}

const wordCharacters = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// name resolves a #name.
func (s *scope) name(token string) string {
	if token[0] == '#' {
		return s.names[token]
	}
	return token
}

// clause reads a clause of an update, such as SET with its actions.
func (p *parser) clause() {
	for clause := strings.ToUpper(p.next()); ; {
		a := action{path: p.path(), add: clause == "ADD"}
		switch clause {
		case "SET":
			p.expect("=")
			if a.value = p.operand(); p.accept("+") {
				left, right := must(a.value), must(p.operand())
				a.value = func(s *scope) (value, bool) { return sum(left(s), right(s)), true }
			}
		case "ADD":
			a.value = p.operand()
		case "REMOVE":
		default:
			p.fail()
		}
		if p.actions = append(p.actions, a); !p.accept(",") {
			return
		}
	}
}

// must returns the value of an operand that has to exist.
func must(o operand) func(*scope) value {
	return func(s *scope) value {
		v, ok := o(s)
		if !ok {
			panic(invalid("The provided expression refers to an attribute that does not exist in the item"))
		}
		return v
	}
}

// update returns an item after the actions. Each of them reads the item as it was before.
func (s *scope) update(actions []action) item {
	next := s.item
	for _, a := range actions {
		path := make([]string, len(a.path))
		for i, name := range a.path {
			path[i] = s.name(name)
		}
		if a.value == nil {
			next = next.set(path, nil)
			continue
		}
		v := must(a.value)(s)
		if a.add {
			old, ok := s.item.get(path[0])
			if !ok {
				old = value{kind: "N", text: "0"}
			}
			v = sum(old, v)
		}
		next = next.set(path, &v)
	}
	return next
}
