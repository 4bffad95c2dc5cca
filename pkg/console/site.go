package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed static
var static embed.FS

// contentTypes are the types of the files, by extension. All are text: API Gateway does not pass on binary responses.
var contentTypes = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

// policy is the Content-Security-Policy of a page. Only files of the console run, and only the console's own address is called.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// site is what the console serves. It is not changed after newSite.
type site struct {
	folder string          // contains the digest of all files
	files  map[string]file // by path below /console/
	pages  map[string]file // by path below /console/ without a slash at the end
}

type file struct{ contentType, content string }

func newSite() (*site, error) {
	s := &site{files: map[string]file{}, pages: map[string]file{}}
	digest, byName := sha256.New(), map[string]file{}
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		contentType := contentTypes[path.Ext(name)]
		if contentType == "" {
			return fmt.Errorf("the file %s has an extension without a content type", name)
		}
		_, _ = fmt.Fprintf(digest, "%s\x00%d\x00%s", name, len(content), content) // never fails
		byName[strings.TrimPrefix(name, "static/")] = file{contentType, string(content)}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of the console: %w", err)
	}
	s.folder = "static-" + hex.EncodeToString(digest.Sum(nil))[:12]
	for name, f := range byName {
		if directory, ok := strings.CutSuffix(name, "index.html"); ok {
			s.pages[strings.TrimSuffix(directory, "/")] = f
			continue
		}
		s.files[s.folder+"/"+name] = f
	}
	return s, nil
}

// servePage serves a page with the name of the folder of its files, and with the configuration.
func (s *site) servePage(w http.ResponseWriter, page file) error {
	config, err := json.Marshal(configuration{}) // escapes <, > and &, so that no text ends the element
	if err != nil {
		return fmt.Errorf("encode the configuration: %w", err)
	}
	page.content = strings.NewReplacer("{{files}}", s.folder, "{{config}}", string(config)).Replace(page.content)
	header := w.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	return write(w, page)
}

func write(w http.ResponseWriter, f file) error {
	w.Header().Set("Content-Type", f.contentType)
	_, err := w.Write([]byte(f.content))
	return err
}

// configuration is what the page tells its modules. It is empty if no issuer is configured.
type configuration struct {
	Issuer                string `json:"issuer,omitempty"`
	ClientID              string `json:"clientId,omitempty"`
	AuthorizationEndpoint string `json:"authorizationEndpoint,omitempty"`
	TokenEndpoint         string `json:"tokenEndpoint,omitempty"`
	EndSessionEndpoint    string `json:"endSessionEndpoint,omitempty"`
	IssuerError           bool   `json:"issuerError,omitempty"` // the issuer is configured, but its metadata cannot be read
}
