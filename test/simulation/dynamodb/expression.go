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
	terms     []term   // of a key condition
	actions   []action // of an update
	refs      []string // the #names and :values
	paths     []string // the first elements of the paths
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

// term is a comparison with a key attribute.
type term struct {
	name, operator string
	values         []string
}

const wordCharacters = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

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
	switch kind {
	case "UpdateExpression":
		for used := map[string]bool{}; p.peek() != "" || len(used) == 0; {
			p.clause(used)
		}
	case "KeyConditionExpression":
		p.terms = append(p.terms, p.term())
		for p.accept("AND") {
			p.terms = append(p.terms, p.term())
		}
	default:
		p.condition = p.or()
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
	all := []condition{p.and()}
	for p.accept("OR") {
		all = append(all, p.and())
	}
	return func(s *scope) bool { return slices.ContainsFunc(all, func(c condition) bool { return c(s) }) }
}

func (p *parser) and() condition {
	all := []condition{p.not()}
	for p.accept("AND") {
		all = append(all, p.not())
	}
	return func(s *scope) bool { return !slices.ContainsFunc(all, func(c condition) bool { return !c(s) }) }
}

func (p *parser) not() condition {
	if p.accept("NOT") {
		c := p.not()
		return func(s *scope) bool { return !c(s) }
	}
	if p.accept("(") {
		c := p.or()
		p.expect(")")
		return c
	}
	if function := p.peek(); function == "attribute_exists" || function == "attribute_not_exists" {
		exists := p.next() == "attribute_exists"
		if len(p.tokens) > 1 && p.tokens[1][0] == ':' {
			panic(invalid("Invalid " + p.kind + ": Operator or function requires a document path"))
		}
		path := p.arguments(1)[0]
		return func(s *scope) bool { _, ok := path(s); return ok == exists }
	}
	return p.comparison()
}

func (p *parser) comparison() condition {
	left := p.operand()
	operator := p.next()
	if !slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, operator) {
		p.fail()
	}
	right := p.operand()
	return func(s *scope) bool { return compare(s, left, operator, right) }
}

func compare(s *scope, left operand, operator string, right operand) bool {
	a, found := left(s)
	b, ok := right(s)
	equal := found && ok && a.equal(b)
	ordered := found && ok && a.kind == b.kind && slices.Contains([]string{"S", "N", "B"}, a.kind)
	switch operator {
	case "=":
		return equal
	case "<>":
		return !equal
	case "<", "<=":
		return ordered && (a.key() < b.key() || equal && operator == "<=")
	default:
		return ordered && (a.key() > b.key() || equal && operator == ">=")
	}
}

// arguments reads the operands of a function.
func (p *parser) arguments(n int) (all []operand) {
	p.expect("(")
	for all = append(all, p.operand()); p.accept(","); {
		all = append(all, p.operand())
	}
	p.expect(")")
	if len(all) != n {
		panic(invalid("Invalid " + p.kind + ": Incorrect number of operands for operator or function"))
	}
	return all
}

func (p *parser) operand() operand {
	switch token := p.peek(); {
	case strings.HasPrefix(token, ":"):
		p.ref(p.next())
		return func(s *scope) (value, bool) { return s.values.get(token) }
	case token == "size" && p.kind != "UpdateExpression":
		p.next()
		of := p.arguments(1)[0]
		return func(s *scope) (value, bool) { return length(of(s)) }
	case token == "if_not_exists" && p.kind == "UpdateExpression":
		p.next()
		arguments := p.arguments(2)
		return func(s *scope) (value, bool) {
			if v, ok := arguments[0](s); ok {
				return v, true
			}
			return arguments[1](s)
		}
	case token == "list_append" && p.kind == "UpdateExpression":
		p.next()
		arguments := p.arguments(2)
		return func(s *scope) (value, bool) {
			a, b := must(arguments[0])(s), must(arguments[1])(s)
			if a.kind != "L" || b.kind != "L" {
				panic(invalid("An operand in the update expression has an incorrect data type"))
			}
			return value{kind: "L", list: slices.Concat(a.list, b.list)}, true
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

func length(v value, ok bool) (value, bool) {
	n := map[string]int{"S": len([]rune(v.text)), "B": len(v.text), "L": len(v.list), "M": len(v.item)}
	count, sized := n[v.kind]
	return value{kind: "N", text: strconv.Itoa(count)}, ok && sized
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

func (p *parser) ref(token string) {
	if token[0] == '#' || token[0] == ':' {
		p.refs = append(p.refs, token)
	}
}

func (p *parser) path() (path []string) {
	for {
		name := p.next()
		if !strings.ContainsAny(name[len(name)-1:], wordCharacters) || name[0] == ':' {
			p.tokens = append([]string{name}, p.tokens...)
			p.fail()
		}
		p.ref(name)
		if path = append(path, name); !p.accept(".") {
			p.paths = append(p.paths, path[0])
			return path
		}
	}
}

// term reads a comparison of a key condition.
func (p *parser) term() (t term) {
	if p.accept("(") {
		t = p.term()
		p.expect(")")
		return t
	}
	t = term{p.next(), strings.ToUpper(p.next()), nil}
	t.values = []string{p.next()}
	if t.operator == "BETWEEN" {
		p.expect("AND")
		t.values = append(t.values, p.next())
	}
	for _, token := range append([]string{t.name}, t.values...) {
		p.ref(token)
	}
	return t
}

// name resolves a #name.
func (s *scope) name(token string) string {
	if token[0] == '#' {
		return s.names[token]
	}
	return token
}
