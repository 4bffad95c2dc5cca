package console

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
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

// site is what the console serves. It is not changed after newSite.
type site struct {
	folder string          // contains the digest of all files
	files  map[string]file // by path below /console/
	pages  map[string]file // by path below /console/ without a slash at the end
	client func(context.Context) client
}

type file struct {
	contentType, content string
	inlineStyles         bool // of a page
}

func newSite() (*site, error) {
	s := &site{
		files: map[string]file{}, pages: map[string]file{},
		client: func(context.Context) client { return client{} },
	}
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
		byName[strings.TrimPrefix(name, "static/")] = file{contentType: contentType, content: string(content)}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of the console: %w", err)
	}
	s.folder = "static-" + hex.EncodeToString(digest.Sum(nil))[:12]
	for name, f := range byName {
		if directory, ok := strings.CutSuffix(name, "index.html"); ok {
			// The renderer of the API reference sets style attributes.
			f.inlineStyles = directory == "api/"
			s.pages[strings.TrimSuffix(directory, "/")] = f
			continue
		}
		s.files[s.folder+"/"+name] = f
	}
	return s, nil
}

func write(w http.ResponseWriter, f file) error {
	w.Header().Set("Content-Type", f.contentType)
	_, err := w.Write([]byte(f.content))
	return err
}
