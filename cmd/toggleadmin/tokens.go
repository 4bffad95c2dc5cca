package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/datetime"
)

type tokensCmd struct {
	apiOptions

	List   listTokensCmd  `cmd:"" help:"List API tokens and personal access tokens, without their secrets."`
	Create createTokenCmd `cmd:"" help:"Create a token and print it. It is not shown again."`
	Revoke revokeTokenCmd `cmd:"" help:"Revoke a token: it is rejected from then on."`
}

type listTokensCmd struct {
	User      id       `placeholder:"ID" help:"Only the personal access tokens of this account."`
	Kind      *string  `enum:"api-token,pat" placeholder:"KIND" help:"Only tokens of this kind: api-token or pat."`
	Expired   bool     `help:"Only expired tokens."`
	UnusedFor lifetime `placeholder:"TIME" help:"Only tokens that were neither used nor created for this time, such as 90d."`
}

type createTokenCmd struct {
	Name      string   `arg:"" help:"Name of the token."`
	User      id       `placeholder:"ID" help:"Create a personal access token of this account instead of an API token."`
	ExpiresAt *moment  `placeholder:"TIME" xor:"expiry" help:"Expiry, such as 2027-01-31T00:00:00Z."`
	ExpiresIn lifetime `placeholder:"TIME" xor:"expiry" help:"Lifetime, such as 90d, 12h or 30m. Without a limit, an API token need not expire."`
}

type revokeTokenCmd struct {
	ID string `arg:"" help:"ID of the token, as list shows it; - reads the token itself from stdin."`
}

// moment is a date and time.
type moment time.Time

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *moment) UnmarshalText(text []byte) error {
	t, err := datetime.Parse(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a date and time with an offset: use one such as 2027-01-31T00:00:00Z", text)
	}
	*m = moment(t)
	return nil
}

// lifetime is a duration, which may be in days.
type lifetime time.Duration

const (
	hoursPerDay = 24
	maxLifetime = 36500 * hoursPerDay * time.Hour
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *lifetime) UnmarshalText(text []byte) error {
	duration, days := strings.CutSuffix(string(text), "d")
	limit := maxLifetime
	if days {
		duration, limit = duration+"h", maxLifetime/hoursPerDay
	}
	d, err := time.ParseDuration(duration)
	if err != nil || d <= 0 || d > limit {
		return fmt.Errorf("%q is not a duration: use one such as 90d, 12h or 30m, at most 36500d", text)
	}
	if *l = lifetime(d); days {
		*l *= hoursPerDay
	}
	return nil
}

func (c *listTokensCmd) Run(s *session, o manager) error {
	tokens, err := o.Tokens(s.step(), int64(c.User))
	if err != nil {
		return err
	}
	since := s.now().Add(-time.Duration(c.UnusedFor))
	tokens = slices.DeleteFunc(tokens, func(t tokenlist.Token) bool {
		return c.Kind != nil && string(t.Kind) != *c.Kind || c.Expired && !t.Expired || c.UnusedFor != 0 && !t.Unused(since)
	})
	return printList(s, tokens, []column[tokenlist.Token]{
		{name: "RISK", cell: riskText, cut: cutLast},
		{name: "NAME", cell: func(t tokenlist.Token) string { return t.Name }, cut: cutFirst, isName: true},
		{name: "OWNER", cell: ownerText, cut: cutFirst},
		{name: "ROLE", cell: roleText},
		{name: "USED", cell: func(t tokenlist.Token) string { return s.relative(t.SeenAt) }},
		{name: "EXPIRES", cell: func(t tokenlist.Token) string { return s.relative(t.ExpiresAt) }},
		{name: "ID", cell: func(t tokenlist.Token) string { return t.ID }},
	})
}

// riskText returns the risks of a token, or that it is rejected.
func riskText(t tokenlist.Token) string {
	if t.Expired {
		return "(expired)"
	}
	var texts []string
	for _, r := range t.Risks {
		texts = append(texts, r.String())
	}
	return strings.Join(texts, "; ")
}

func ownerText(t tokenlist.Token) string {
	switch {
	case t.UserID == nil:
		return "API token"
	case t.UserName == nil: // the account does not exist
		return strconv.FormatInt(*t.UserID, 10)
	}
	return fmt.Sprintf("%s %d %s", *t.UserKind, *t.UserID, *t.UserName)
}

func roleText(t tokenlist.Token) string {
	if t.Role == nil {
		return ""
	}
	return t.Role.String()
}

// Validate is called by kong.
func (c *createTokenCmd) Validate() error {
	if c.User != 0 && c.ExpiresIn == 0 && c.ExpiresAt == nil {
		return exitstatus.Errorf(exitstatus.Usage, "a personal access token must expire: use --expires-in or --expires-at")
	}
	return nil
}

func (c *createTokenCmd) Run(s *session, o manager) error {
	created, token, err := o.CreateToken(s.step(), int64(c.User), c.Name, s.expiry(c.ExpiresAt, c.ExpiresIn))
	if err != nil {
		return err
	}
	if s.JSON {
		err = printJSON(s.out, struct {
			tokenlist.Token

			Secret string `json:"secret"`
		}{created, token.Reveal()})
	} else {
		s.inform("created the %s. The token is not shown again:", describe(created))
		_, err = fmt.Fprintln(s.out, token.Reveal())
	}
	if err != nil {
		return s.revokeUnprinted(err, "tokens create", func(ctx context.Context) error { return o.Revoke(ctx, created) })
	}
	return nil
}

func describe(t tokenlist.Token) string {
	if t.Kind == tokenlist.APIToken {
		return fmt.Sprintf("API token %s %q", t.ID, t.Name)
	}
	return fmt.Sprintf("personal access token %s %q of %s (%d)", t.ID, t.Name, text(t.UserName), *t.UserID)
}

// hasSecret reports whether a text can be a token, or a part of one.
func hasSecret(text string) bool {
	return strings.Contains(text, ":v2_") || strings.Contains(text, ".v2_")
}

// Validate is called by kong.
func (c *revokeTokenCmd) Validate() error {
	if hasSecret(c.ID) {
		return exitstatus.Errorf(exitstatus.Usage,
			"a token must not be passed as an argument, which other users of the machine can see: "+
				"pass its id, or use `toggleadmin tokens revoke -` and pass the token on stdin")
	}
	return nil
}

func (c *revokeTokenCmd) Run(s *session, o manager) error {
	id := c.ID
	if id == "-" {
		input, err := s.readSecret("Token: ")
		if err != nil {
			return fmt.Errorf("read the token from stdin: %w", err)
		}
		if id, err = operator.TokenID(strings.TrimSpace(string(input))); err != nil {
			return err
		}
	}
	t, err := o.FindToken(s.step(), id)
	if err != nil {
		return err
	}
	if err := s.confirm("Revoke the %s? It will be rejected.", describe(t)); err != nil {
		return err
	}
	if err := o.Revoke(s.step(), t); err != nil {
		return err
	}
	return s.result(map[string]tokenlist.Token{"revoked": t}, "revoked the %s", describe(t))
}
