package engine_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/local/engine/enginetest"
)

// fakeJava makes a folder in which DynamoDB Local is installed, and a java, the only program on the PATH, that is a shell script.
func fakeJava(t *testing.T, script string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	lib := filepath.Join(folder, ".cache", "tools", "dynamodb-local-"+engine.DynamoDBLocalVersion)
	bin := t.TempDir()
	err := errors.Join(
		os.MkdirAll(lib, 0o700), os.WriteFile(filepath.Join(lib, "DynamoDBLocal-"+engine.DynamoDBLocalVersion+".jar"), nil, 0o600),
	)
	if script != "" {
		err = errors.Join(err, os.WriteFile(filepath.Join(bin, "java"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	return folder
}

func TestDynamoDBLocalWithoutJava(t *testing.T) { //nolint:paralleltest // it changes the PATH
	_, err := engine.FindDynamoDBLocal(fakeJava(t, ""))
	if !errors.Is(err, engine.ErrMissing) || !strings.Contains(err.Error(), "there is no java on the PATH") {
		t.Errorf("error %v", err)
	}
}

func TestWhatJavaSays(t *testing.T) { //nolint:paralleltest // it changes the PATH
	for _, tt := range []struct {
		name, says, want string
		ofData           bool
	}{
		{"too old", "Exception in thread \"main\" java.lang.UnsupportedClassVersionError: compiled by", "java on the PATH is older", false},
		{"no such option", "Error: Could not create the Java Virtual Machine.", "Could not create the Java Virtual Machine.", false},
		{"its cause", "java.io.IOException: a\nCaused by: java.net.BindException: Address in use", "java.net.BindException: Address in use", false},
		{"data", "com.almworks.sqlite4java.SQLiteException: [26] file is encrypted", "[26] file is encrypted", true},
		{"nothing", "", "exit status 1", false},
	} {
		t.Run(tt.name, func(t *testing.T) { //nolint:paralleltest // it changes the PATH
			program, err := engine.FindDynamoDBLocal(fakeJava(t, "echo '"+tt.says+"' >&2\nexit 1"))
			if err != nil {
				t.Fatal(err)
			}
			e, err := engine.Start(t.Context(), engine.Options{Program: program})
			if err == nil {
				e.Stop()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || errors.Is(err, engine.ErrDatabase) != tt.ofData {
				t.Errorf("error %q, want %q in it", err, tt.want)
			}
		})
	}
}

// Another server may have taken the port: only an answer that allows the origin of our own process is its.
func TestDynamoDBLocalIsKnownByItsOrigin(t *testing.T) { //nolint:paralleltest // it changes the PATH
	for _, tt := range []struct {
		name   string
		allows func(origin string) string
		ready  bool
	}{
		{"its own", func(origin string) string { return origin }, true},
		{"every origin", func(string) string { return "*" }, false},
		{"another one", func(string) string { return "http://127.0.0.1" }, false},
	} {
		t.Run(tt.name, func(t *testing.T) { //nolint:paralleltest // it changes the PATH
			note := filepath.Join(t.TempDir(), "arguments")
			program, err := engine.FindDynamoDBLocal(fakeJava(t, "echo \"$@\" >"+note+".new; mv "+note+".new "+note+"; exec sleep 60"))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				e, err := engine.Start(ctx, engine.Options{Program: program})
				if err == nil {
					e.Stop()
				}
				ended <- err
			}()
			enginetest.Eventually(t, "it is started", func() bool { _, err := os.Stat(note); return err == nil })
			content, err := os.ReadFile(note)
			if err != nil {
				t.Fatal(err)
			}
			args := strings.Fields(string(content))
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:"+args[slices.Index(args, "-port")+1])
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Access-Control-Allow-Origin", tt.allows(r.Header.Get("Origin")))
				if asked++; asked == 3 && !tt.ready {
					cancel()
				}
			})}
			go func() { _ = server.Serve(l) }()
			if err := <-ended; (err == nil) != tt.ready {
				t.Errorf("error %v", err)
			}
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
