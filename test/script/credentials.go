package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Credentials is what a credentials file holds: the form of local.json, which `make run` writes. Other members are ignored.
type Credentials struct {
	BaseURL         string           `json:"baseUrl"`
	APIToken        string           `json:"apiToken"`
	Users           []User           `json:"users"`
	ServiceAccounts []ServiceAccount `json:"serviceAccounts"`
}

// User is a person with a personal access token.
type User struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Role string `json:"role"`
	PAT  string `json:"pat"`
}

// ServiceAccount is an account that gets its tokens by the API.
type ServiceAccount struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Role string `json:"role"`
}

// ReadCredentials reads a credentials file. It must hold an API token, the people admin, editor and viewer, and a service account.
func ReadCredentials(file string) (Credentials, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Credentials{}, fmt.Errorf("read the credentials: %w", err)
	}
	var credentials Credentials
	if err := json.Unmarshal(data, &credentials); err != nil {
		return Credentials{}, fmt.Errorf("parse the credentials in %s: %w", file, err)
	}
	if err := credentials.check(); err != nil {
		return Credentials{}, fmt.Errorf("%s: %w", file, err)
	}
	return credentials, nil
}

func (c Credentials) check() error {
	if len(c.ServiceAccounts) == 0 {
		return errors.New("the credentials have no service account")
	}
	for _, alias := range []string{"api-token", "admin", "editor", "viewer"} {
		if token, ok := c.token(alias); !ok || token == "" {
			return fmt.Errorf("the credentials have no token for %s", alias)
		}
	}
	return nil
}

// user finds a person by name.
func (c Credentials) user(name string) (User, bool) {
	for _, user := range c.Users {
		if user.Name == name {
			return user, true
		}
	}
	return User{}, false
}

// token gives the credential that an alias stands for. Text with a colon stands for itself.
func (c Credentials) token(alias string) (string, bool) {
	if alias == "api-token" {
		return c.APIToken, true
	}
	if user, ok := c.user(alias); ok {
		return user.PAT, true
	}
	return alias, strings.Contains(alias, ":")
}

// fill replaces each {alias} in a header's value by the credential.
func (c Credentials) fill(value string) string {
	pairs := []string{"{api-token}", c.APIToken}
	for _, user := range c.Users {
		pairs = append(pairs, "{"+user.Name+"}", user.PAT)
	}
	return strings.NewReplacer(pairs...).Replace(value)
}
