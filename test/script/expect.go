package script

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// answered gives the last answer.
func answered(ts *testscript.TestScript) *answer {
	last := of(ts).last
	if last == nil {
		ts.Fatalf("no request was made yet")
	}
	return last
}

// expect fails the script where what it says about the answer does not hold, or holds though it is negated.
func expect(ts *testscript.TestScript, neg, holds bool, format string, args ...any) {
	if holds == neg {
		ts.Fatalf("%s\nthe answer was %s", fmt.Sprintf(format, args...), of(ts).last)
	}
}

// status CODE
func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	a := answered(ts)
	if len(args) != 1 {
		ts.Fatalf("usage: status CODE")
	}
	expect(ts, neg, strconv.Itoa(a.status) == args[0], "the status is %d", a.status)
}

// header NAME absent | header NAME matches REGEX | header NAME VALUE
func cmdHeader(ts *testscript.TestScript, neg bool, args []string) {
	a := answered(ts)
	if len(args) < 2 {
		ts.Fatalf("usage: header NAME absent | matches REGEX | VALUE")
	}
	values := a.header.Values(args[0])
	got := strings.Join(values, ", ")
	var holds bool
	switch {
	case args[1] == "absent" && len(args) == 2:
		holds = len(values) == 0
	case args[1] == "matches":
		holds = len(values) == 1 && compile(ts, args[2:]).MatchString(got)
	default:
		holds = len(values) == 1 && got == strings.Join(args[1:], " ")
	}
	expect(ts, neg, holds, "the header %s is %q", args[0], redact(got))
}

// json PATH absent | matches REGEX | length N | members NAME… | VALUE
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	a := answered(ts)
	if len(args) < 2 {
		ts.Fatalf("usage: json PATH absent | matches REGEX | length N | members NAME… | VALUE")
	}
	body, err := a.json()
	ts.Check(err)
	value, there := lookup(body, args[0])
	rest := args[2:]
	var holds bool
	switch {
	case args[1] == "absent" && len(rest) == 0:
		holds = !there
	case args[1] == "matches":
		holds = there && compile(ts, rest).MatchString(show(value))
	case args[1] == "length" && len(rest) == 1:
		holds = there && strconv.Itoa(length(value)) == rest[0]
	case args[1] == "members":
		holds = there && hasMembers(value, rest)
	default:
		holds = there && same(value, strings.Join(args[1:], " "))
	}
	if !there {
		expect(ts, neg, holds, "there is no %s", args[0])
	}
	expect(ts, neg, holds, "%s is %s", args[0], redact(show(value)))
}

// body empty | body TEXT
func cmdBody(ts *testscript.TestScript, neg bool, args []string) {
	a := answered(ts)
	want := strings.Join(args, " ")
	if want == "empty" {
		want = ""
	}
	expect(ts, neg, string(a.body) == want, "the body has %d bytes, want %d", len(a.body), len(want))
}

// error NAME TEXT | error NAME matches REGEX | error NAME names PLACE…
func cmdError(ts *testscript.TestScript, neg bool, args []string) {
	refuseNegation(ts, neg)
	a := answered(ts)
	switch {
	case len(args) > 2 && args[1] == "names":
		err := a.isError(args[0], "")
		expect(ts, false, err == nil, "%v", err)
		want := slices.Sorted(slices.Values(args[2:]))
		expect(ts, false, slices.Equal(a.places(), want), "the message names %q", a.places())
	case len(args) == 3 && args[1] == "matches":
		err := a.isError(args[0], "")
		expect(ts, false, err == nil, "%v", err)
		expect(ts, false, compile(ts, args[2:]).MatchString(a.message()), "the message is %q", redact(a.message()))
	case len(args) == 2:
		err := a.isError(args[0], args[1])
		expect(ts, false, err == nil, "%v", err)
	default:
		ts.Fatalf("usage: error NAME 'text' | error NAME matches REGEX | error NAME names PLACE…")
	}
}

// unauthenticated
func cmdUnauthenticated(ts *testscript.TestScript, neg bool, args []string) {
	refuseNegation(ts, neg)
	if len(args) != 0 {
		ts.Fatalf("usage: unauthenticated")
	}
	err := of(ts).ground.unauthenticated(answered(ts))
	expect(ts, false, err == nil, "%v", err)
}

// capture NAME json PATH | capture NAME header HEADER
func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	refuseNegation(ts, neg)
	a := answered(ts)
	if len(args) != 3 {
		ts.Fatalf("usage: capture NAME json PATH | capture NAME header HEADER")
	}
	switch args[1] {
	case "json":
		body, err := a.json()
		ts.Check(err)
		value, there := lookup(body, args[2])
		expect(ts, false, there, "there is no %s", args[2])
		ts.Setenv(args[0], show(value))
	case "header":
		value := a.header.Get(args[2])
		expect(ts, false, value != "", "there is no header %s", args[2])
		ts.Setenv(args[0], value)
	default:
		ts.Fatalf("a value is captured from json or header, not from %s", args[1])
	}
}

func compile(ts *testscript.TestScript, args []string) *regexp.Regexp {
	expression, err := regexp.Compile(strings.Join(args, " "))
	ts.Check(err)
	return expression
}
