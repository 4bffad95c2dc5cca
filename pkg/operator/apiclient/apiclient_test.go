package apiclient_test

import (
	"testing"

	"toggleadmin/pkg/operator/apiclient"
	"toggleadmin/test/helper/assert"
)

// A token is not sent in plain text over a network.
func TestNew(t *testing.T) {
	t.Parallel()
	for address, accepted := range map[string]bool{
		"https://toggles.example.com/dev": true, "http://127.0.0.1:3000": true, "http://toggles.example.com": false,
		"toggles.example.com": false, "": false,
	} {
		_, err := apiclient.New(address, "secret")
		assert.Equal(t, accepted, err == nil)
	}
}
