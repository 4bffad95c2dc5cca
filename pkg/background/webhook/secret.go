package webhook

import (
	"encoding/base64"
	"errors"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	secretPrefix = "whsec_"
	maxSecrets   = 2
	// Bytes of a secret. Source: the Standard Webhooks specification.
	minSecretBytes, maxSecretBytes = 24, 64
)

// ErrSecret is the error for a signing secret that cannot be used. It does not contain the secret.
var ErrSecret = errors.New("the secret must be whsec_ with 24 to 64 bytes in base64 after it, or two of these with " +
	"a space between them")

// ErrParameter is the error for a parameter that does not begin with a URL.
var ErrParameter = errors.New("the parameter must be the URL of the webhook and its secret, with a space between them")

// ParseSecrets parses the secrets of the webhook: one, or two while the secret is rotated.
func ParseSecrets(text string) ([]*standardwebhooks.Webhook, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > maxSecrets {
		return nil, ErrSecret
	}
	secrets := make([]*standardwebhooks.Webhook, len(fields))
	for i, field := range fields {
		encoded, prefixed := strings.CutPrefix(field, secretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || !prefixed || len(key) < minSecretBytes || len(key) > maxSecretBytes {
			return nil, ErrSecret
		}
		if secrets[i], err = standardwebhooks.NewWebhookRaw(key); err != nil {
			return nil, ErrSecret
		}
	}
	return secrets, nil
}

// ParseParameter parses the text of the webhook's parameter: its URL and one or two secrets, with white space between
// them. It does not check the URL.
func ParseParameter(text string) (address string, secrets []*standardwebhooks.Webhook, err error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || strings.HasPrefix(fields[0], secretPrefix) {
		return "", nil, ErrParameter
	}
	secrets, err = ParseSecrets(strings.Join(fields[1:], " "))
	return fields[0], secrets, err
}

// NewSecret returns the text of a secret.
func NewSecret(key []byte) string { return secretPrefix + base64.StdEncoding.EncodeToString(key) }
