package dynamodb

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"toggleadmin/pkg/platform/dynamo"
)

// expressions are those of a request.
type expressions struct {
	condition, keyCondition, filter condition // which are true if there is none
	update                          []action
}

type (
	condition func(item) bool
	operand   func(item) value
	action    func(old, next item) item // returns next with a change, which depends on the item before the update
)

const end = "<EOF>"

var (
	tokens = regexp.MustCompile(`[#:]?\w+|<=|>=|\S`)
	name   = regexp.MustCompile(`^#?\w+$`)
)

// parser reads an expression. Keywords can have any case.
type parser struct {
	*request
	used   map[string]bool // the #names and :values of all expressions of the request
	update bool
	tokens []string
}

// parse parses the expressions and checks that they use exactly the names and values of the request.
func (r *request) parse() (e expressions) {
	p := &parser{request: r, used: map[string]bool{}}
	e.condition = p.condition(r.ConditionExpression)
	e.keyCondition = p.condition(r.KeyConditionExpression)
	e.filter = p.condition(r.FilterExpression)
	if r.UpdateExpression != nil {
		p.update, p.tokens = true, split(*r.UpdateExpression)
		for e.update = p.clause(); !p.accept(end); {
			e.update = append(e.update, p.clause()...)
		}
	}
	if len(p.used) != len(r.ExpressionAttributeNames)+len(r.ExpressionAttributeValues) {
		panic(invalid(fmt.Sprintf("the expressions use %v of %v and %v",
			p.used, r.ExpressionAttributeNames, r.ExpressionAttributeValues)))
	}
	return e
}

func split(text string) []string { return append(tokens.FindAllString(text, -1), end) }

func (p *parser) condition(text *string) condition {
	if text == nil {
		return func(item) bool { return true }
	}
	p.tokens = split(*text)
	c := p.or()
	p.expect(end)
	return c
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

func fail(token string) {
	panic(invalid(`Invalid expression: Syntax error or undefined; token: "` + token + `"`))
}

func (p *parser) or() condition {
	left := p.and()
	if !p.accept("OR") {
		return left
	}
	right := p.or()
	return func(i item) bool { return left(i) || right(i) }
}

func (p *parser) and() condition {
	left := p.term()
	if !p.accept("AND") {
		return left
	}
	right := p.and()
	return func(i item) bool { return left(i) && right(i) }
}

func (p *parser) term() condition {
	switch {
	case p.accept("("):
		c := p.or()
		p.expect(")")
		return c
	case p.accept("attribute_exists"):
		of := p.arguments(1)[0]
		return func(i item) bool { return of(i) != nil }
	case p.accept("attribute_not_exists"):
		of := p.arguments(1)[0]
		return func(i item) bool { return of(i) == nil }
	}
	left := p.operand()
	switch operator := strings.ToUpper(p.next()); operator {
	case "=", "<", "<=", ">", ">=":
		right := p.operand()
		return func(i item) bool { return compare(left(i), operator, right(i)) }
	case "BETWEEN":
		low := p.operand()
		p.expect("AND")
		high := p.operand()
		return func(i item) bool { return compare(left(i), ">=", low(i)) && compare(left(i), "<=", high(i)) }
	case "IN":
		others := p.arguments(0)
		return func(i item) bool {
			return slices.ContainsFunc(others, func(o operand) bool { return compare(left(i), "=", o(i)) })
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
		p.used[p.next()] = true
		v := p.ExpressionAttributeValues[token]
		if v == nil {
			fail(token)
		}
		return func(item) value { return v }
	case !p.update && p.accept("size"): // of maps only
		of := p.arguments(1)[0]
		return func(i item) value {
			if v, ok := of(i).(*types.AttributeValueMemberM); ok {
				return dynamo.N(int64(len(v.Value)))
			}
			return nil
		}
	case p.update && p.accept("if_not_exists"):
		arguments := p.arguments(2)
		return either(arguments[0], arguments[1])
	}
	return at(p.path())
}

func either(a, b operand) operand {
	return func(i item) value {
		if v := a(i); v != nil {
			return v
		}
		return b(i)
	}
}

func (p *parser) path() (path []string) {
	for {
		token := p.next()
		if !name.MatchString(token) {
			fail(token)
		}
		if token[0] == '#' {
			p.used[token] = true
			if token = p.ExpressionAttributeNames[token]; token == "" {
				fail("an undefined name")
			}
		}
		if path = append(path, token); !p.accept(".") {
			return path
		}
	}
}

// at returns what is at a path.
func at(path []string) operand {
	return func(i item) value {
		v := dynamo.M(i)
		for _, name := range path {
			inner, ok := v.(*types.AttributeValueMemberM)
			if !ok {
				return nil
			}
			v = inner.Value[name]
		}
		return v
	}
}

// clause reads a clause of an update, such as SET with its actions.
func (p *parser) clause() (actions []action) {
	for clause := strings.ToUpper(p.next()); ; {
		path := p.path()
		v := at(path)
		switch clause {
		case "SET":
			p.expect("=")
			if v = required(p.operand()); p.accept("+") {
				v = sum(v, p.operand())
			}
		case "ADD":
			v = sum(either(v, func(item) value { return dynamo.N(0) }), p.operand())
		case "REMOVE":
			v = func(item) value { return nil }
		default:
			fail(clause)
		}
		actions = append(actions, func(old, next item) item { return set(next, path, v(old)) })
		if !p.accept(",") {
			return actions
		}
	}
}

func required(of operand) operand {
	return func(i item) value {
		v := of(i)
		if v == nil {
			panic(invalid("The provided expression refers to an attribute that does not exist in the item"))
		}
		return v
	}
}

func sum(a, b operand) operand {
	return func(i item) value {
		x, ok := a(i).(*types.AttributeValueMemberN)
		y, also := b(i).(*types.AttributeValueMemberN)
		if !ok || !also {
			panic(invalid("An operand in the update expression has an incorrect data type"))
		}
		return dynamo.N(integer(x.Value) + integer(y.Value))
	}
}
