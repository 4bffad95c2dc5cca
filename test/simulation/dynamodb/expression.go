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

// expression is the tokens of an expression and end. nil: there is none.
type expression []string

const end = "<EOF>"

var (
	tokens = regexp.MustCompile(`[#:]?\w+|<=|>=|\S`)
	name   = regexp.MustCompile(`^#?\w+$`)
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *expression) UnmarshalText(text []byte) error {
	*e = append(tokens.FindAllString(string(text), -1), end)
	return nil
}

// check checks that the expressions of a request use exactly its names and values.
func (r *request) check() {
	used := map[string]bool{}
	for _, token := range slices.Concat(
		r.ConditionExpression, r.KeyConditionExpression, r.FilterExpression, r.UpdateExpression,
		r.ProjectionExpression) {
		if token[0] == '#' || token[0] == ':' {
			used[token] = true
			require(r.ExpressionAttributeNames[token] != "" || r.ExpressionAttributeValues[token] != nil,
				"An expression uses an undefined name or value: "+token)
		}
	}
	require(len(used) == len(r.ExpressionAttributeNames)+len(r.ExpressionAttributeValues),
		"Value unused in expressions: not all names and values are used")
}

// evaluation evaluates an expression on an item while it reads the expression. Keywords are in upper case.
type evaluation struct {
	*request
	item item
	rest expression
}

// holds evaluates a condition. It is true if there is none.
func (r *request) holds(condition expression, i item) bool {
	if condition == nil {
		return true
	}
	e := &evaluation{r, i, condition}
	holds := e.terms()
	e.expect(end)
	return holds
}

// project returns the attributes of an item that the projection names. It returns the item if there is none.
func (r *request) project(i item) item {
	if r.ProjectionExpression == nil {
		return i
	}
	e, part := &evaluation{r, i, r.ProjectionExpression}, item{}
	for {
		name := e.next()
		name = cmp.Or(r.ExpressionAttributeNames[name], name)
		if v := i[name]; v != nil {
			part[name] = v
		}
		if !e.accept(",") {
			e.expect(end)
			return part
		}
	}
}

func (e *evaluation) next() string {
	token := e.rest[0]
	if token != end {
		e.rest = e.rest[1:]
	}
	return token
}

func (e *evaluation) accept(token string) bool {
	found := e.rest[0] == token
	if found {
		e.next()
	}
	return found
}

func (e *evaluation) expect(token string) {
	next := e.next()
	require(next == token, syntaxError+next)
}

const syntaxError = "Invalid expression: Syntax error; token: "

// terms reads terms that AND and OR combine.
func (e *evaluation) terms() bool {
	holds := e.term()
	for e.accept("AND") {
		holds = e.term() && holds
	}
	if e.accept("OR") {
		return e.terms() || holds
	}
	return holds
}

func (e *evaluation) term() bool {
	var left value
	switch {
	case e.accept("("):
		holds := e.terms()
		e.expect(")")
		return holds
	case e.accept("NOT"):
		return !e.term()
	case e.accept("attribute_exists"):
		return e.arguments(1)[0] != nil
	case e.accept("attribute_not_exists"):
		return e.arguments(1)[0] == nil
	case e.accept("begins_with"):
		both := e.arguments(2)
		text, isString := both[0].(*types.AttributeValueMemberS)
		prefix, also := both[1].(*types.AttributeValueMemberS)
		return isString && also && strings.HasPrefix(text.Value, prefix.Value)
	case e.accept("contains"): // of lists and sets only
		both := e.arguments(2)
		if set, isSet := both[0].(*types.AttributeValueMemberSS); isSet {
			text, isText := both[1].(*types.AttributeValueMemberS)
			return isText && slices.Contains(set.Value, text.Value)
		}
		if set, isSet := both[0].(*types.AttributeValueMemberNS); isSet {
			number, isNumber := both[1].(*types.AttributeValueMemberN)
			return isNumber && slices.Contains(set.Value, number.Value)
		}
		list, isList := both[0].(*types.AttributeValueMemberL)
		return isList && slices.ContainsFunc(list.Value, func(v value) bool { return compare(v, "=", both[1]) })
	case e.accept("size"): // of maps and sets only
		switch v := e.arguments(1)[0].(type) {
		case *types.AttributeValueMemberM:
			left = dynamo.N(int64(len(v.Value)))
		case *types.AttributeValueMemberNS:
			left = dynamo.N(int64(len(v.Value)))
		case *types.AttributeValueMemberSS:
			left = dynamo.N(int64(len(v.Value)))
		}
	default:
		left = e.operand()
	}
	switch operator := e.next(); operator {
	case "=", "<", "<=", ">", ">=":
		return compare(left, operator, e.operand())
	case "BETWEEN":
		low := e.operand()
		e.expect("AND")
		high := e.operand()
		return compare(left, ">=", low) && compare(left, "<=", high)
	default:
		require(operator == "IN", syntaxError+operator)
		return slices.ContainsFunc(e.arguments(0), func(v value) bool { return compare(left, "=", v) })
	}
}

// compare reports whether the operator contains the relation of two values: <, = or >.
func compare(a value, operator string, b value) bool {
	x, isString := a.(*types.AttributeValueMemberS)
	y, isNumber := a.(*types.AttributeValueMemberN)
	var relation int
	switch b := b.(type) {
	case *types.AttributeValueMemberS:
		if !isString {
			return false
		}
		relation = strings.Compare(x.Value, b.Value)
	case *types.AttributeValueMemberN:
		if !isNumber {
			return false
		}
		relation = cmp.Compare(integer(y.Value), integer(b.Value))
	default:
		return reflect.DeepEqual(a, b) && strings.Contains(operator, "=")
	}
	return strings.Contains(operator, "<=>"[1+relation:2+relation])
}

// arguments reads the operands of a function; n is their number, 0: any.
func (e *evaluation) arguments(n int) (all []value) {
	e.expect("(")
	for all = append(all, e.operand()); e.accept(","); {
		all = append(all, e.operand())
	}
	e.expect(")")
	require(n == 0 || n == len(all), syntaxError+")")
	return all
}

// operand reads a :value or a path, and returns nil if nothing is there.
func (e *evaluation) operand() value {
	if e.rest[0][0] == ':' {
		return e.ExpressionAttributeValues[e.next()]
	}
	return e.at(e.path())
}

func (e *evaluation) path() (path []string) {
	for {
		token := e.next()
		require(name.MatchString(token), syntaxError+token)
		if token[0] == '#' {
			token = e.ExpressionAttributeNames[token]
		}
		if path = append(path, token); !e.accept(".") {
			return path
		}
	}
}

// at returns what is at a path of the item.
func (e *evaluation) at(path []string) value {
	i, last := e.item, len(path)-1
	for _, name := range path[:last] {
		i = i.Map(name)
	}
	return i[path[last]]
}

// updated returns an item after the update. Its actions depend on the item before it.
func (r *request) updated(i item) item {
	if r.UpdateExpression == nil {
		return i
	}
	e := &evaluation{r, i, r.UpdateExpression}
	for clause := e.next(); ; {
		path := e.path()
		v := e.at(path)
		switch clause {
		case "SET":
			e.expect("=")
			v = e.assigned()
			require(v != nil, "The provided expression refers to an attribute that does not exist in the item")
			if e.accept("+") {
				v = sum(v, e.operand())
			}
		case "ADD":
			v = added(v, e.operand())
		case "DELETE":
			v = removed(v, e.operand())
		default:
			require(clause == "REMOVE", syntaxError+clause)
			v = nil
		}
		i = set(i, path, v)
		if e.accept(",") {
			continue
		}
		if clause = e.next(); clause == end {
			return i
		}
	}
}

// assigned reads an operand of SET.
func (e *evaluation) assigned() value {
	if e.accept("if_not_exists") {
		return cmp.Or(e.arguments(2)...)
	}
	return e.operand()
}

// added is the result of ADD: a sum, or a set with more elements.
func added(v, operand value) value {
	switch more := operand.(type) {
	case *types.AttributeValueMemberNS:
		return setOf(append(elements(v), more.Value...))
	case *types.AttributeValueMemberSS:
		return textsOf(append(texts(v), more.Value...))
	}
	return sum(cmp.Or(v, dynamo.N(0)), operand)
}

// removed is the result of DELETE: a set with fewer elements, or nothing.
func removed(v, operand value) value {
	if fewer, ok := operand.(*types.AttributeValueMemberSS); ok {
		return textsOf(slices.DeleteFunc(texts(v), func(text string) bool { return slices.Contains(fewer.Value, text) }))
	}
	return setOf(slices.DeleteFunc(elements(v), func(n string) bool { return slices.Contains(elements(operand), n) }))
}

// elements returns the elements of a set of numbers, or nil if there is none.
func elements(v value) []string {
	set, ok := v.(*types.AttributeValueMemberNS)
	require(ok || v == nil, "An operand in the update expression has an incorrect data type")
	if !ok {
		return nil
	}
	return slices.Clone(set.Value)
}

// setOf returns a set of numbers, which cannot be empty: it is nil then.
func setOf(numbers []string) value {
	if len(numbers) == 0 {
		return nil
	}
	slices.SortFunc(numbers, func(a, b string) int { return cmp.Compare(integer(a), integer(b)) })
	return &types.AttributeValueMemberNS{Value: slices.Compact(numbers)}
}

// texts returns the elements of a set of texts, or nil if there is none.
func texts(v value) []string {
	set, ok := v.(*types.AttributeValueMemberSS)
	require(ok || v == nil, "An operand in the update expression has an incorrect data type")
	if !ok {
		return nil
	}
	return slices.Clone(set.Value)
}

// textsOf returns a set of texts, which cannot be empty: it is nil then.
func textsOf(texts []string) value {
	if len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	return &types.AttributeValueMemberSS{Value: slices.Compact(texts)}
}

func sum(a, b value) value {
	x, ok := a.(*types.AttributeValueMemberN)
	y, also := b.(*types.AttributeValueMemberN)
	require(ok && also, "An operand in the update expression has an incorrect data type")
	return dynamo.N(integer(x.Value) + integer(y.Value))
}
