// Package operator implements the commands that manage accounts, tokens and toggles. Each method is one command: it
// validates the input and uses the stores of the domain packages. Errors have a status of pkg/operator/exitstatus. The
// JSON properties of the types are the documented output of `toggleadmin --json`.
package operator

import (
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"toggleadmin/pkg/api/apitoken"
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuresearch"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/operator/installation"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/toggle"
)

// Operator manages one installation. It is safe for concurrent use.
type Operator struct {
	users     *user.Store
	names     *user.Names
	pats      *pat.Store
	groups    *group.Store
	access    *accesstable.Reader
	roles     *role.Store
	projects  *project.Store
	apiTokens *apitoken.Store
	features  *feature.Store
	searcher  *featuresearch.Searcher
	types     *featuretype.Store
	fields    *contextfield.Store
	segments  *segment.Store
	tagTypes  *tagtype.Store

	clientTokens *clienttoken.Store
	environments *environment.Store
	playground   *playground.Store

	changeRequests *changerequest.Store

	tokenLimit int // of an account
	now        func() time.Time
	random     io.Reader

	installation *installation.Installation
}

// New returns an Operator of an open installation. random must be cryptographically secure.
func New(i *installation.Installation, now func() time.Time, random io.Reader) *Operator {
	log := i.Log(now)
	return &Operator{
		users:     user.NewStore(i.Client, i.Tables, log),
		names:     user.NewNames(i.Client, i.Tables),
		pats:      pat.NewStore(i.Client, i.Tables, log, random),
		groups:    group.NewStore(i.Client, i.Tables, log),
		access:    accesstable.NewReader(i.Client, i.Tables),
		roles:     role.NewStore(i.Client, i.Tables, log),
		projects:  project.NewStore(i.Client, i.Tables, log),
		apiTokens: apitoken.NewStore(i.Client, i.Tables, log),
		features:  feature.NewStore(i.Client, i.Tables, log),
		searcher:  featuresearch.NewSearcher(i.Client, i.Tables, now),
		types:     featuretype.NewStore(i.Client, i.Tables, log),
		fields:    contextfield.NewStore(i.Client, i.Tables, log),

		clientTokens: clienttoken.NewStore(i.Client, i.Tables, log),
		environments: environment.NewStore(i.Client, i.Tables, log),
		playground:   playground.NewStore(i.Client, i.Tables),

		changeRequests: changerequest.NewStore(i.Client, i.Tables, changerequest.Options{
			Log: log, NewStrategyID: toggle.NewStrategyIDs(now, random), GroupsMaxAgeDays: i.GroupsMaxAgeDays,
		}),

		segments:   segment.NewStore(i.Client, i.Tables, log),
		tagTypes:   tagtype.NewStore(i.Client, i.Tables, log),
		tokenLimit: i.TokenLimit,
		now:        now,
		random:     random,

		installation: i,
	}
}

// maxText is the maximum number of characters of a name or a description, as in the API.
const maxText = 255

// CheckText returns a name or a description without surrounding white space. what names the value in errors.
func CheckText(what, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return "", exitstatus.Errorf(exitstatus.Usage, "the %s is empty", what)
	case n > maxText:
		return "", exitstatus.Errorf(exitstatus.Usage, "the %s has %d characters, the maximum is %d", what, n, maxText)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return "", exitstatus.Errorf(exitstatus.Usage, "the %s contains characters that cannot be printed", what)
	}
	return text, nil
}
