package contract_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toggleadmin/pkg/auth"
	"toggleadmin/pkg/datetime"
	"toggleadmin/pkg/pat"
	"toggleadmin/pkg/user"
)

// TestSection45_Answer: "201, the PAT with secret, userId = the service account, seenAt null."
func TestSection45_Answer(t *testing.T) {
	t.Parallel()
	c := &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 678_999_999, time.UTC)}
	s := start(t, options{now: c.Now})
	account := s.serviceAccount(t)
	before := s.counter(t)
	a := s.send(t, postToken(account, `{"description":"nightly","expiresAt":"2030-02-01T00:00:00.1239+01:00"}`).as(s.apiToken(t))).want(t, 201)
	var created token
	a.decode(t, &created)
	want := token{
		ID: before + 1, Secret: created.Secret, CreatedAt: "2030-01-02T03:04:05.678Z", UserID: account, Description: "nightly",
		ExpiresAt: "2030-01-31T23:00:00.123Z",
	}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(a.body, `"seenAt":null`) {
		t.Errorf("seenAt is missing: %s", a.body)
	}
	s.send(t, get(typesPath).as(created.Secret)).want(t, 200)
	stored := pat.FromItem(s.item(t, "PersonalAccessTokens", pat.Key(account, created.ID)))
	if stored.Description != "nightly" || datetime.Format(stored.ExpiresAt) != want.ExpiresAt || datetime.Format(stored.CreatedAt) != want.CreatedAt {
		t.Errorf("stored %+v", stored)
	}
	t.Run("the authentication token is returned only in the creation response", func(t *testing.T) {
		t.Parallel()
		for _, target := range []string{typesPath, contextPath, trafficPath("2026-01"), tokenPath(text(account)), tokenPath(text(account)) + "/" + text(created.ID)} {
			if a := s.send(t, get(target).as(s.APIToken)); strings.Contains(a.body, created.Secret[31:]) {
				t.Errorf("%s shows it", target)
			}
		}
	})
}

// TestSection45_Location: "Location: the absolute URL of /api/admin/service-account/{id}/token/{tokenId} under the address the caller used."
func TestSection45_Location(t *testing.T) {
	t.Parallel()
	s := shared
	admin, account := s.admin(t), s.serviceAccount(t)
	t.Run("with the address of this service", func(t *testing.T) {
		t.Parallel()
		a := s.send(t, postToken(account, newToken()).as(admin)).want(t, 201)
		var created token
		a.decode(t, &created)
		want := fmt.Sprintf("%s/api/admin/service-account/%d/token/%d", s.BaseURL, account, created.ID)
		if got := a.header.Values("Location"); len(got) != 1 || got[0] != want {
			t.Errorf("Location %q, want %q", got, want)
		}
	})
	for _, host := range []string{"toggles.example.com", "toggles.example.com:8443", "localhost:3000", "[::1]:3000"} {
		t.Run("with the host "+host, func(t *testing.T) {
			t.Parallel()
			location, created := s.createAt(t, host, admin, account)
			if want := fmt.Sprintf("http://%s/api/admin/service-account/%d/token/%d", host, account, created.ID); location != want {
				t.Errorf("Location %q, want %q", location, want)
			}
		})
	}
}

// createAt makes a token under another Host, past what an HTTP client would send.
func (s *service) createAt(t *testing.T, host, admin string, account int64) (location string, created token) {
	t.Helper()
	var d net.Dialer
	connection, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.BaseURL, "http://"))
	must(t, err)
	defer connection.Close()
	must(t, connection.SetDeadline(time.Now().Add(10*time.Second)))
	body := newToken()
	_, err = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		tokenPath(text(account)), host, admin, len(body), body)
	must(t, err)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	must(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Fatalf("status %d", response.StatusCode)
	}
	must(t, json.NewDecoder(response.Body).Decode(&created))
	return response.Header.Get("Location"), created
}

// TestSection45_Description: "at most 255 characters (code points), not only white space, else 400; stored, answered and compared exactly as
// sent."
func TestSection45_Description(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	body := func(t *testing.T, description string) string {
		t.Helper()
		return quote(t, "description", description)[:len(quote(t, "description", description))-1] + `,"expiresAt":"2199-01-01T00:00:00Z"}`
	}
	for name, description := range map[string]string{
		"one character": "x", "255 characters": strings.Repeat("x", 255), "255 code points": strings.Repeat("😀", 255), "white space around": " \t x \n ",
		"markup": `<b>&"'\</b>`, "composed": "é", "decomposed": "e\u0301", "the byte 0": "a\x00b", "a line separator": "a\u2028b", "a zero-width space": "\u200b",
		"right to left": "\u202ex", "U+FFFD": "\ufffd",
	} {
		t.Run("201 for "+name, func(t *testing.T) {
			t.Parallel()
			account := s.serviceAccount(t)
			created := s.createToken(t, admin, account, body(t, description))
			if created.Description != description {
				t.Errorf("answered %q, want %q", created.Description, description)
			}
			if stored := pat.FromItem(s.item(t, "PersonalAccessTokens", pat.Key(account, created.ID))); stored.Description != description {
				t.Errorf("stored %q, want %q", stored.Description, description)
			}
		})
	}
	account := s.serviceAccount(t)
	for name, description := range map[string]string{
		"an empty one": "", "a space": " ", "spaces and tabs": " \t\r\n\v\f ", "256 characters": strings.Repeat("x", 256), "256 code points": strings.Repeat("é", 256),
		"a no-break space": "\u00a0", "an ideographic space": "\u3000\u2003", "a next line": "\u0085", "256 spaces": strings.Repeat(" ", 256),
	} {
		t.Run("400 for "+name, func(t *testing.T) {
			t.Parallel()
			m := s.send(t, postToken(account, body(t, description)).as(admin)).wantError(t, 400).Message
			if !strings.Contains(m, "`/body/description`") {
				t.Errorf("message %q", m)
			}
		})
	}
}

// TestSection45_ExpiresAt: "in the future, else 400; no upper bound."
func TestSection45_ExpiresAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 500_000_000, time.UTC)
	s := start(t, options{now: func() time.Time { return now }})
	account := s.serviceAccount(t)
	for name, tt := range map[string]struct {
		expiresAt string
		status    int
	}{
		"now": {"2030-01-02T03:04:05.500Z", 400}, "a millisecond ago": {"2030-01-02T03:04:05.499Z", 400}, "long ago": {"0001-01-01T00:00:00Z", 400},
		"in a millisecond": {"2030-01-02T03:04:05.501Z", 201}, "in less than one": {"2030-01-02T03:04:05.5009Z", 400}, "by an offset": {"2030-01-02T03:04:05.499-00:01", 201},
		"past by an offset": {"2030-01-02T04:04:05.499+01:01", 400}, "at the end of time": {"9999-12-31T23:59:59.999Z", 201}, "in 1,000 years": {"3030-01-02T03:04:05Z", 201},
	} {
		t.Run(fmt.Sprint(tt.status, " for ", name), func(t *testing.T) {
			t.Parallel()
			a := s.send(t, postToken(account, fmt.Sprintf(`{"description":%q,"expiresAt":%q}`, name, tt.expiresAt)).as(s.APIToken)).want(t, tt.status)
			if tt.status == 400 && !strings.Contains(a.wantError(t, 400).Message, "`/body/expiresAt`") {
				t.Error(a.body)
			}
		})
	}
}

// TestSection45_Account: "No service account with that id (unknown, not a number, or an ordinary user): 404. Ids are decimal digits without
// sign, leading zero or anything else, 1 to 2147483647; all other text is an unknown id."
func TestSection45_Account(t *testing.T) {
	t.Parallel()
	s := shared
	admin := s.admin(t)
	person := s.account(t, user.Person, auth.RoleAdmin)
	account := s.serviceAccount(t)
	good := text(account)
	for name, id := range map[string]string{
		"unknown": "2147483647", "an ordinary user": text(person), "a word": "ci", "0": "0", "a sign": "+" + good, "negative": "-" + good, "a leading zero": "0" + good,
		"a fraction": good + ".0", "an exponent": good + "e0", "hexadecimal": fmt.Sprintf("0x%x", account), "white space": "%20" + good, "white space behind": good + "%20", "an underscore": "1_001",
		"above 32 bits": "2147483648", "wrapped to 32 bits": text(account + 1<<32), "wrapped to 64 bits": wrapped(account), "other digits": "%D9%A1", "full-width digits": "%EF%BC%91",
		"a byte 0": good + "%00", "a list": good + "," + good, "a slash": good + "%2F", "a quote": "%27" + good,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.send(t, call{method: "POST", target: tokenPath(id), body: newToken(), token: admin}).wantError(t, 404)
		})
	}
	t.Run("nothing is written for any", func(t *testing.T) {
		t.Parallel()
		for _, id := range []int64{person, 2147483647} {
			if reserved, stored := s.tokensOf(t, id); len(reserved)+len(stored) > 0 {
				t.Errorf("%d has %d tokens", id, len(stored))
			}
		}
	})
	t.Run("a disabled service account is one", func(t *testing.T) {
		t.Parallel()
		disabled := s.serviceAccount(t)
		must(t, s.users().SetDisabled(patient(t), disabled, true))
		created := s.createToken(t, admin, disabled, newToken())
		s.send(t, get(typesPath).as(created.Secret)).want(t, 401)
	})
}

// TestSection45_UniqueDescription: "The same description on the same account: 409."
func TestSection45_UniqueDescription(t *testing.T) {
	t.Parallel()
	s := shared
	admin, account, other := s.admin(t), s.serviceAccount(t), s.serviceAccount(t)
	body := func(description string) string {
		return fmt.Sprintf(`{"description":%q,"expiresAt":"2199-01-01T00:00:00Z"}`, description)
	}
	first := s.createToken(t, admin, account, body("deploy"))
	for name, c := range map[string]call{
		"the same": postToken(account, body("deploy")), "with another expiry": postToken(account, `{"description":"deploy","expiresAt":"2100-01-01T00:00:00Z"}`),
		"spelt with an escape": postToken(account, `{"description":"d\u0065ploy","expiresAt":"2199-01-01T00:00:00Z"}`),
	} {
		t.Run("409 for "+name, func(t *testing.T) {
			s.send(t, c.as(admin)).wantMessage(t, 409, "The service account already has a token with this description.")
		})
	}
	if _, stored := s.tokensOf(t, account); len(stored) != 1 {
		t.Errorf("%d tokens", len(stored))
	}
	s.send(t, postToken(other, body("deploy")).as(admin)).want(t, 201) // another account's
	for _, description := range []string{"Deploy", "deploy ", " deploy", "deplo", "e\u0301", "\u00e9"} {
		s.send(t, postToken(account, body(description)).as(admin)).want(t, 201)
	}
	s.send(t, deleteToken(text(first.ID)).as(first.Secret)).want(t, 200)
	s.send(t, postToken(account, body("deploy")).as(admin)).want(t, 201) // free again
	t.Run("also of an expired one", func(t *testing.T) {
		t.Parallel()
		account := s.serviceAccount(t)
		_, _, err := s.pats().Create(patient(t), pat.PAT{
			UserID: account, Description: "old", CreatedAt: time.Now(), ExpiresAt: time.Now().Add(-time.Hour),
		}, pat.Owner{Kind: user.ServiceAccount, Limit: 10})
		must(t, err)
		s.send(t, postToken(account, body("old")).as(admin)).want(t, 409)
	})
}

// TestSection45_Limit: "More than the limit (a parameter, default 10, expired ones count) per account: 403 saying so."
func TestSection45_Limit(t *testing.T) {
	t.Parallel()
	t.Run("10, expired ones counted", func(t *testing.T) {
		t.Parallel()
		s := shared
		admin, account := s.admin(t), s.serviceAccount(t)
		for range 4 {
			s.patUntil(t, account, user.ServiceAccount, time.Now().Add(-time.Hour))
		}
		var last token
		for range 6 {
			last = s.createToken(t, admin, account, newToken())
		}
		s.send(t, postToken(account, newToken()).as(admin)).wantMessage(t, 403, "The service account already has 10 tokens, the most that it may have.")
		s.send(t, postToken(s.serviceAccount(t), newToken()).as(admin)).want(t, 201) // another account
		s.send(t, deleteToken(text(last.ID)).as(last.Secret)).want(t, 200)
		s.send(t, postToken(account, newToken()).as(admin)).want(t, 201)
		s.send(t, postToken(account, newToken()).as(admin)).want(t, 403)
	})
	t.Run("a parameter", func(t *testing.T) {
		t.Parallel()
		s := start(t, options{edit: strings.NewReplacer("Type: Number\n    Default: 10\n", "Type: Number\n    Default: 3\n")})
		account := s.serviceAccount(t)
		for range 3 {
			s.createToken(t, s.APIToken, account, newToken())
		}
		s.send(t, postToken(account, newToken()).as(s.APIToken)).wantMessage(t, 403, "The service account already has 3 tokens, the most that it may have.")
	})
}
