package dynamodb

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

// expression is a parsed condition, filter, key condition or update.
type expression struct {
	condition condition
	actions   []action // of an update
	refs      []string // the #names and :values
}

// scope is what an expression is evaluated with.
type scope struct {
	names        map[string]string
	values, item item
}

type (
	condition func(*scope) bool
	operand   func(*scope) value
)

// action sets an attribute, adds a number to it, or, without a value, removes it.
type action struct {
	path  []string
	value operand
	add   bool
}

const end = "<EOF>"

var (
	tokens = regexp.MustCompile(`[#:]?\w+|<=|>=|\S`)
	name   = regexp.MustCompile(`^#?\w+$`)
)

type parser struct {
	expression
	update bool
	tokens []string
}

// parse parses an expression. Keywords can have any case.
func (db *DB) parse(kind, text string) *expression {
	if parsed := db.expressions[kind+text]; parsed != nil {
		return parsed
	}
	p := &parser{update: kind == "UpdateExpression", tokens: append(tokens.FindAllString(text, -1), end)}
	if p.update {
		for p.clause(); p.tokens[0] != end; {
			p.clause()
		}
	} else {
		p.condition = p.or()
	}
	p.expect(end)
	db.expressions[kind+text] = &p.expression
	return &p.expression
}

func (p *parser) next() (token string) {
	if token = p.tokens[0]; token != end {
		p.tokens = p.tokens[1:]
	}
	return token
}

func (p *parser) accept(token string) bool {
	found := strings.EqualFold(p.tokens[0], token)
	if found {
		p.next()
	}
	return found
}

func (p *parser) expect(token string) {
	if !p.accept(token) {
		fail(p.tokens[0])
	}
}

func fail(token string) { panic(invalid(`Invalid expression: Syntax error; token: "` + token + `"`)) }

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
	switch {
	case p.accept("("):
		c := p.or()
		p.expect(")")
		return c
	case p.accept("attribute_exists"):
		path := p.arguments(1)[0]
		return func(s *scope) bool { return path(s) != nil }
	case p.accept("attribute_not_exists"):
		path := p.arguments(1)[0]
		return func(s *scope) bool { return path(s) == nil }
	}
	left := p.operand()
	switch operator := strings.ToUpper(p.next()); operator {
	case "=", "<", "<=", ">", ">=":
		right := p.operand()
		return func(s *scope) bool { return compare(left(s), operator, right(s)) }
	case "BETWEEN":
		low := p.operand()
		p.expect("AND")
		high := p.operand()
		return func(s *scope) bool { return compare(left(s), ">=", low(s)) && compare(left(s), "<=", high(s)) }
	case "IN":
		others := p.arguments(0)
		return func(s *scope) bool {
			return slices.ContainsFunc(others, func(o operand) bool { return compare(left(s), "=", o(s)) })
		}
	default:
		fail(operator)
		return nil
	}
}

func compare(a value, operator string, b value) bool {
	x, y := order(a), order(b)
	switch {
	case operator == "=":
		return reflect.DeepEqual(a, b)
	case x == "" || y == "" || x[0] != y[0]:
		return false
	}
	way := strings.Compare(x, y)
	return way == 0 && len(operator) == 2 || way < 0 && operator[0] == '<' || way > 0 && operator[0] == '>'
}

// arguments reads the operands of a function; n is their number, 0: any.
func (p *parser) arguments(n int) (all []operand) {
	p.expect("(")
	for all = append(all, p.operand()); p.accept(","); {
		all = append(all, p.operand())
	}
	if p.expect(")"); n > 0 && len(all) != n {
		fail(")")
	}
	return all
}

func (p *parser) operand() operand {
	switch token := p.tokens[0]; {
	case token[0] == ':':
		p.refs = append(p.refs, p.next())
		return func(s *scope) value { return s.values[token] }
	case !p.update && p.accept("size"): // of maps only
		of := p.arguments(1)[0]
		return func(s *scope) value {
			if v, ok := of(s).(*types.AttributeValueMemberM); ok {
				return dynamo.N(int64(len(v.Value)))
			}
			return nil
		}
	case p.update && p.accept("if_not_exists"):
		arguments := p.arguments(2)
		return func(s *scope) value {
			if v := arguments[0](s); v != nil {
				return v
			}
			return arguments[1](s)
		}
	}
	path := p.path()
	return func(s *scope) value {
		v := dynamo.M(s.item)
		for _, name := range s.resolve(path) {
			inner, ok := v.(*types.AttributeValueMemberM)
			if !ok {
				return nil
			}
			v = inner.Value[name]
		}
		return v
	}
}

func (p *parser) path() (path []string) {
	for {
		token := p.next()
		if !name.MatchString(token) {
			fail(token)
		}
		if token[0] == '#' {
			p.refs = append(p.refs, token)
		}
		if path = append(path, token); !p.accept(".") {
			return path
		}
	}
}

// resolve returns a path without #names.
func (s *scope) resolve(path []string) []string {
	names := slices.Clone(path)
	for i, token := range path {
		if token[0] == '#' {
			names[i] = s.names[token]
		}
	}
	return names
}

// clause reads a clause of an update, such as SET with its actions.
func (p *parser) clause() {
	for clause := strings.ToUpper(p.next()); ; {
		a := action{path: p.path(), add: clause == "ADD"}
		switch clause {
		case "SET":
			p.expect("=")
			if a.value = p.operand(); p.accept("+") {
				left, right := a.value, p.operand()
				a.value = func(s *scope) value { return sum(left(s), right(s)) }
			}
		case "ADD":
			a.value = p.operand()
		case "REMOVE":
		default:
			fail(clause)
		}
		if p.actions = append(p.actions, a); !p.accept(",") {
			return
		}
	}
}

// holds reports whether a condition is true. There can be none.
func (e *expression) holds(s *scope) bool { return e == nil || e.condition(s) }

// apply returns an item after an update, if there is one. Each action reads the item as it was before.
func (e *expression) apply(s *scope) item {
	next := s.item
	if e == nil {
		return next
	}
	for _, a := range e.actions {
		path, v := s.resolve(a.path), value(nil)
		if a.value != nil {
			if v = a.value(s); v == nil {
				panic(invalid("The provided expression refers to an attribute that does not exist in the item"))
			}
		}
		if a.add {
			v = sum(cmp.Or(s.item[path[0]], dynamo.N(0)), v)
		}
		next = set(next, path, v)
	}
	return next
}
