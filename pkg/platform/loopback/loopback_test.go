package loopback_test

import (
	"testing"

	"toggleadmin/pkg/platform/loopback"
)

func TestIsHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost":             true,
		"127.0.0.1":             true,
		"127.45.67.89":          true,
		"::1":                   true,
		"::ffff:127.0.0.1":      true,
		"":                      false,
		"0.0.0.0":               false,
		"10.0.0.1":              false,
		"128.0.0.1":             false,
		"fe80::1":               false,
		"localhost.example.com": false,
		"127.0.0.1.example.com": false,
		"127.0.0.1:80":          false,
		"[::1]":                 false,
	} {
		if got := loopback.IsHost(host); got != want {
			t.Errorf("%q: %t, want %t", host, got, want)
		}
	}
}
