package browser_test

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/rogpeppe/go-internal/testscript"

	"toggleadmin/test/helper/assert"
	"toggleadmin/test/helper/openapi"
	"toggleadmin/test/helper/script"
)

// commands are the commands of scripts besides those of package script, by name. An ELEMENT is ROLE NAME, optionally
// followed by "in row TEXT", "in event TEXT" or "in dialog"; the role "field" is that of every input. In arguments,
// {admin} is the token of this person; \n, \r and \t are characters.
var commands = map[string]any{
	"visit":          (*tab).visit,        // /PATH
	"sign-in":        (*tab).signIn,       // PERSON #FRAGMENT
	"enter":          (*tab).enter,        // TOKEN #FRAGMENT: signs in with a token
	"issuer-sign-in": (*tab).issuerSignIn, // LOGIN: begins on the page for signing in
	"fragment":       (*tab).setFragment,  // #FRAGMENT
	"open":           (*tab).open,         // PAGE: clicks on the link, and finds the heading
	"walk":           (*tab).walk,         // #FRAGMENT…: checks all pages, and those with these fragments, at all widths
	"print":          (*tab).showPrinted,  // shows pages from now on as they are printed
	"account":        (*tab).account,      // ELEMENT: clicks on it in the menu of the account
	"reload":         (*tab).reload,
	"new-tab":        (*tab).newTab,    // /PATH
	"switch-tab":     (*tab).switchTab, // back to the tab before, and vice versa
	"close-tab":      (*tab).closeTab,  // goes back to the tab before
	"back":           func(b *tab) { b.run("history.back()") },
	"forward":        func(b *tab) { b.run("history.forward()") },

	"click":    (*tab).click,   // ELEMENT
	"fill":     (*tab).fill,    // LABEL TEXT: replaces the value of a field
	"choose":   (*tab).choose,  // LABEL OPTION
	"tab-to":   (*tab).tabTo,   // NAME: presses the tab key
	"enter-at": (*tab).enterAt, // NAME: presses the tab key, then the enter key
	"type":     func(b *tab, text string) { b.press(text) },
	"press":    func(b *tab, key string) { b.press(map[string]string{"Enter": kb.Enter, "Escape": kb.Escape}[key]) },
	"copied":   (*tab).copied, // VARIABLE: sets it to the text in the clipboard

	// Assertions wait until they hold.
	"find":         (*tab).find,      // ELEMENT: there is exactly one
	"sees":         (*tab).sees,      // TEXT…
	"sees-no":      (*tab).seesNo,    // TEXT
	"invalid":      (*tab).seesError, // ELEMENT TEXT: its error message contains the text
	"focus":        (*tab).focusIs,   // NAME
	"has-focus":    (*tab).hasFocus,
	"is":           (*tab).is, // a JavaScript expression
	"intact":       (*tab).isIntact,
	"accessible":   (*tab).isAccessible,
	"only-buttons": (*tab).seesOnlyButtons, // NAME…
	"alive":        (*tab).isAlive,         // #FRAGMENT…: every control of the pages can be used
	"asks":         (*tab).asks,            // TEXT…: the sheet of a change with these texts is open, and nothing was changed; closes it
	"requested":    (*tab).hasRequested,    // N PART: the tab has sent N requests with this part in the URL; does not wait
	"downloaded":   (*tab).hasDownloaded,   // FILE TEXT
	"reports":      (*tab).reports,         // PART…: of messages that would fail the test

	"run":           (*tab).run,      // JavaScript
	"run-first":     (*tab).runFirst, // JavaScript: runs before the scripts of each page that is loaded from now on
	"width":         (*tab).setWidth, // PIXELS: of the window; it is 1200 at the beginning
	"may-log":       (*tab).mayLog,   // PART…: of messages that do not fail the test
	"offline":       (*tab).offline,  // [URL pattern]
	"slow":          (*tab).slow,     // DURATION: delays each response
	"online":        (*tab).online,   // ends offline and slow
	"clear-cookies": (*tab).clearCookies,
	"time-zone":     (*tab).setTimeZone, // NAME: of the browser, before it shows a page
	"advance":       (*tab).advance,     // DURATION: moves the clock of the service, and that of the page if it stands still
	"rotate-key":    (*tab).rotateKey,   // replaces the key of the issuer
	"import":        (*tab).importFile,  // FILE: imports it as toggleadmin does
	"count":         (*tab).count,       // FILE of requests: DAY PATH SUCCESSFUL CLIENT-ERRORS SERVER-ERRORS
	"sweep-usage":   (*tab).sweepUsage,  // runs functions/sweep-usage once
	"used":          (*tab).use,         // TOGGLE ENVIRONMENT APPLICATION DURATION: it was used that long ago
	"shot":          (*tab).shot,        // NAME of a screenshot of the documentation, which must show the page, and its scheme
	"photo":         (*tab).photo,       // NAME: takes pictures of the whole page, in light and in dark, if $PHOTOS is a folder
}

// TestScripts runs the scripts in testdata. Each has a service, configured by its file service.json, and a tab. $PRINTED
// is the path that the service prints.
func TestScripts(t *testing.T) {
	t.Parallel()
	chromium.context(t)
	validator, err := openapi.Load()
	assert.OK(t, err)
	all := script.Commands()
	for name, method := range commands {
		all[name] = adapt(method)
	}
	// times N COMMAND repeats a command, with {n} as 00, 01 and so on.
	all["times"] = func(ts *testscript.TestScript, _ bool, args []string) {
		n, err := strconv.Atoi(args[0])
		ts.Check(err)
		for i := range n {
			line := strings.ReplaceAll(strings.Join(args[1:], "\n"), "{n}", strconv.Itoa(100 + i)[1:])
			all[args[1]](ts, false, strings.Split(line, "\n")[1:])
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireUniqueNames: true, Cmds: all,
		Setup: func(env *testscript.Env) error {
			t, _ := env.T().(testing.TB)
			s := start(t, env.WorkDir)
			env.Values[tabKey{}] = openTab(t, s)
			env.Setenv("PRINTED", regexp.MustCompile(`/console/#code=\S+`).FindString(s.printed.String()))
			if s.issuer != nil {
				env.Setenv("ISSUER", strings.TrimPrefix(s.issuer.url, "http://"))
			}
			return script.Setup(t.Context(), env,
				script.Environment{Name: script.Local, BaseURL: s.BaseURL, ClientURL: s.ClientURL, Credentials: s.Credentials},
				validator)
		},
	})
}

type tabKey struct{}

// adapt makes a command of a method of tab whose parameters are strings.
func adapt(method any) func(*testscript.TestScript, bool, []string) {
	f := reflect.ValueOf(method)
	return func(ts *testscript.TestScript, negated bool, args []string) {
		b, _ := ts.Value(tabKey{}).(*tab)
		b.script = ts
		values := []reflect.Value{reflect.ValueOf(b)}
		for _, arg := range args {
			arg = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t").Replace(arg)
			for _, u := range b.service.Users {
				arg = strings.ReplaceAll(arg, "{"+u.Name+"}", u.PAT)
			}
			values = append(values, reflect.ValueOf(arg))
		}
		if missing := f.Type().NumIn() - len(values); negated || missing > 1 || !f.Type().IsVariadic() && missing != 0 {
			ts.Fatalf("wrong arguments: script_test.go lists the commands")
		}
		f.Call(values)
	}
}

// run runs JavaScript.
func (b *tab) run(code string) { b.t.Helper(); evaluate[chromedp.Void](b, code) }
