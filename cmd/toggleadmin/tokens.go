package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/operator"
	"toggleadmin/pkg/outcome"
)

type tokensCmd struct {
	List   listTokensCmd  `cmd:"" help:"List API tokens and personal access tokens, without their secrets."`
	Create createTokenCmd `cmd:"" help:"Create a token and print it, once."`
	Revoke revokeTokenCmd `cmd:"" help:"Revoke a token: it is refused at once."`
}

type listTokensCmd struct {
	User id `placeholder:"ID" help:"Only this account's personal access tokens."`
}

type createTokenCmd struct {
	Name      string   `arg:"" help:"What the token is for."`
	User      id       `placeholder:"ID" help:"Make a personal access token of this person or service account, not an API token."`
	ExpiresAt *moment  `placeholder:"TIME" xor:"expiry" help:"When it expires: 2027-01-31T00:00:00Z."`
	ExpiresIn lifetime `placeholder:"TIME" xor:"expiry" help:"How long it is valid: 90d, 12h or 30m. Without either an API token never expires."`
}

type revokeTokenCmd struct {
	ID string `arg:"" help:"Id of the token, as list shows it; - reads a token itself from stdin."`
}

// moment is a date and time of the command line.
type moment time.Time

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *moment) UnmarshalText(text []byte) error {
	t, err := datetime.Parse(string(text))
	if err != nil {
		return fmt.Errorf("%q is no date and time with an offset: give one such as 2027-01-31T00:00:00Z", text)
	}
	*m = moment(t)
	return nil
}

// lifetime is a duration of the command line, in days too.
type lifetime time.Duration

// mostDays keeps a duration from overflowing: it is about a hundred years.
const mostDays = 36500

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *lifetime) UnmarshalText(text []byte) error {
	malformed := fmt.Errorf("%q is no duration: give one such as 90d, 12h or 30m, at most %dd", text, mostDays)
	perDay := map[string]int{"d": 1, "h": 24, "m": 24 * 60}
	if len(text) < len("1d") {
		return malformed
	}
	parts, ok := perDay[string(text[len(text)-1:])]
	n, err := strconv.Atoi(string(text[:len(text)-1]))
	if !ok || err != nil || n <= 0 || n > mostDays*parts {
		return malformed
	}
	*l = lifetime(time.Duration(n) * (24 * time.Hour / time.Duration(parts)))
	return nil
}

func (c *listTokensCmd) Run(s *session) error {
	ctx, cancel := s.work()
	defer cancel()
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	all, err := o.Tokens(ctx, int64(c.User))
	if err != nil {
		return err
	}
	if s.JSON {
		return printJSON(s.out, all)
	}
	rows := [][]string{}
	for _, t := range all {
		owner := ""
		if t.UserID != nil {
			owner = strings.TrimSpace(fmt.Sprintf("%d %s", *t.UserID, text(t.UserName)))
		}
		expires := text(t.ExpiresAt)
		switch {
		case t.Expired:
			expires += " (expired)"
		case expires == "":
			expires = "never"
		}
		rows = append(rows, []string{t.Kind, t.ID, t.Name, owner, text(t.CreatedAt), expires, text(t.SeenAt)})
	}
	return printTable(s.out, []string{"KIND", "ID", "NAME", "OWNER", "CREATED", "EXPIRES", "SEEN"}, rows)
}

// createdToken is what create prints as JSON.
type createdToken struct {
	operator.Token

	Secret string `json:"secret"` // the token itself, once
}

func (c *createTokenCmd) Run(s *session) error {
	ctx, cancel := s.work()
	defer cancel()
	expires := (*time.Time)(c.ExpiresAt)
	if c.ExpiresIn != 0 {
		expires = new(s.now().Add(time.Duration(c.ExpiresIn)))
	}
	if c.User != 0 && expires == nil {
		return outcome.New(outcome.Usage, "a personal access token expires: say when by --expires-in or --expires-at")
	}
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	var made operator.Token
	var token auth.Token
	if c.User == 0 {
		made, token, err = o.CreateAPIToken(ctx, c.Name, expires)
	} else {
		made, token, err = o.CreatePAT(ctx, int64(c.User), c.Name, *expires)
	}
	if err != nil {
		return err
	}
	if s.JSON {
		err = printJSON(s.out, createdToken{made, token.Reveal()})
	} else {
		s.say("%s. The token, which is not shown again:", describe(made))
		_, err = fmt.Fprintln(s.out, token.Reveal())
	}
	if err != nil { // nobody has it, so nobody shall ever have it
		ctx, cancel := s.takingBack()
		defer cancel()
		return fmt.Errorf("the token could not be printed, so it was revoked: %w", errors.Join(err, o.Revoke(ctx, made)))
	}
	return nil
}

// describe names a token.
func describe(t operator.Token) string {
	if t.Kind == operator.KindAPIToken {
		return fmt.Sprintf("API token %s %q", t.ID, t.Name)
	}
	return fmt.Sprintf("personal access token %s %q of %s (%d)", t.ID, t.Name, text(t.UserName), *t.UserID)
}

// revokedToken is what revoke prints as JSON.
type revokedToken struct {
	Revoked operator.Token `json:"revoked"`
}

// longestInput is more than any token has.
const longestInput = 1000

func (c *revokeTokenCmd) Run(s *session) error {
	if strings.Contains(c.ID, ":v2_") || strings.Contains(c.ID, ".v2_") { // whole or not, and after Bearer too: no id has these
		return outcome.New(outcome.Usage, "a token itself does not belong on the command line, where others see it: "+
			"give its id, or `toggleadmin tokens revoke - …` and the token on stdin")
	}
	ctx, cancel := s.work()
	defer cancel()
	secret := ""
	if c.ID == "-" {
		input, err := io.ReadAll(io.LimitReader(s.in, longestInput))
		if err != nil {
			return fmt.Errorf("read the token from stdin: %w", err)
		}
		if secret = strings.TrimSpace(string(input)); secret == "" {
			return outcome.New(outcome.Usage, "there is no token on stdin")
		}
		s.asks = false // stdin is used up
	}
	o, err := s.operator(ctx)
	if err != nil {
		return err
	}
	find, what := o.FindToken, c.ID
	if secret != "" {
		find, what = o.FindSecret, secret
	}
	t, err := find(ctx, what)
	if err != nil {
		return err
	}
	if err := s.confirm("Revoke the %s? Whoever uses it is refused from then on.", describe(t)); err != nil {
		return err
	}
	ctx, cancel = s.work()
	defer cancel()
	if err := o.Revoke(ctx, t); err != nil {
		return err
	}
	return s.result(revokedToken{t}, "revoked the %s", describe(t))
}
