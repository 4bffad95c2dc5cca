package app

import (
	"strings"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operation is an operation of the API, which one Lambda function serves. A domain package lists its operations in
// operations.go.
type Operation struct {
	Name     string             // the function's folder in functions
	Route    string             // the method and the resource path, as in template.yaml
	Requires access.Requirement // of the caller; one that concerns projects reads the table Access
	Tables   []string           // the logical ids of the tables that the requirement and the handler use
	MaxBody  int64              // the size limit of the request body, in bytes; 0: lambdahttp.DefaultMaxBody
	Handler  func(*Deps) lambdahttp.HandlerFunc
}

// New creates the handler of the Lambda function. Its error names each variable that is missing or malformed.
func (o Operation) New(env *Env) (lambda.Handler, error) {
	d := &Deps{Env: env}
	d.OpenTables(o.Tables...)
	handler := o.Handler(d)
	if err := d.Err(); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(o.Route, "GET ") {
		handler = lambdahttp.WithReason(handler)
	}
	var options []lambdahttp.Option
	if o.MaxBody > 0 {
		options = append(options, lambdahttp.MaxBody(o.MaxBody))
	}
	return env.API(access.Require(o.Requires, accesstable.NewReader(d.DynamoDB, d.Tables), handler), options...), nil
}

func (o Operation) name() string { return o.Name }

// Function is a Lambda function that serves no operation of the API, such as one that handles a stream or a schedule.
type Function struct {
	Name    string // its folder in functions
	Handler func(*Deps) lambda.Handler
}

// New creates the handler of the Lambda function. Its error names each variable that is missing or malformed.
func (f Function) New(env *Env) (lambda.Handler, error) {
	d := &Deps{Env: env}
	handler := f.Handler(d)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return handler, nil
}

func (f Function) name() string { return f.Name }

// named is an Operation or a Function.
type named interface {
	name() string
	New(env *Env) (lambda.Handler, error)
}

// Find returns the constructor of the operation or function with the name. If there is none, it returns nil.
func Find[F named](all []F, name string) Constructor {
	for _, f := range all {
		if f.name() == name {
			return f.New
		}
	}
	return nil
}
