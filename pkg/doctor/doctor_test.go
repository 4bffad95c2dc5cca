package doctor_test

import (
	"context"
	"testing"

	"toggleadmin/pkg/doctor"
	"toggleadmin/pkg/installation"
)

// TestInterrupted: what could not be looked at is no problem of the installation.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	problems := doctor.Examine(ctx, doctor.Config{Installation: &installation.Installation{}, Report: func(f doctor.Finding) {
		if f.Status != doctor.Skipped {
			t.Errorf("%+v", f)
		}
	}})
	if problems != 0 {
		t.Errorf("%d problems", problems)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"https://api.example.com/prod": true, "http://127.0.0.1:3000": true, "http://localhost:3000/x": true, "http://[::1]:3000": true,
		"http://api.example.com": false, "http://10.0.0.1": false, "ftp://127.0.0.1": false, "api.example.com": false, "": false, "https://": false,
		"http://localhost.example.com": false,
	} {
		if err := doctor.CheckURL(url); (err == nil) != good {
			t.Errorf("%q: %v", url, err)
		}
	}
}
