package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// static has the files of the console. A large one is compressed, so that the binary is smaller: its name ends with .gz.
//
//go:embed static
var static embed.FS

const compressed = ".gz"

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
	folder string          // contains the checksum of all files
	files  map[string]file // by path below /console/
	pages  map[string]file // by path below /console/ without a slash at the end
	client func(context.Context) client

	version   string // of the service
	local     bool   // see pageConfig
	clientURL string // see pageConfig
}

type file struct {
	name, contentType string // name is that in static
	inlineStyles      bool   // of a page
}

// newSite returns the site without an OpenID Connect client. It runs at the start of each process, so the checksum is
// CRC-32C, for which processors have an instruction.
func newSite() (*site, error) {
	s := &site{
		files: map[string]file{}, pages: map[string]file{},
		client: func(context.Context) client { return client{} },
	}
	checksum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	var all []file
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f := file{name: name, contentType: contentTypes[path.Ext(strings.TrimSuffix(name, compressed))]}
		if f.contentType == "" {
			return fmt.Errorf("the file %s has an extension without a content type", name)
		}
		content, err := static.Open(name)
		if err != nil {
			return err
		}
		defer content.Close()                        //nolint:errcheck // an embedded file
		_, _ = io.WriteString(checksum, name+"\x00") // never fails
		_, err = io.Copy(checksum, content)
		all = append(all, f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of the console: %w", err)
	}
	s.folder = fmt.Sprintf("static-%08x", checksum.Sum32())
	for _, f := range all {
		name := strings.TrimSuffix(strings.TrimPrefix(f.name, "static/"), compressed)
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

// content returns the content of the file, decompressed.
func (f file) content() ([]byte, error) {
	content, err := static.ReadFile(f.name)
	if err == nil && strings.HasSuffix(f.name, compressed) {
		content, err = decompress(content)
	}
	if err != nil {
		return nil, fmt.Errorf("read a file of the console: %w", err)
	}
	return content, nil
}

func decompress(content []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err //nolint:wrapcheck // content wraps it
	}
	return io.ReadAll(reader) //nolint:wrapcheck // the same
}

func write(w http.ResponseWriter, contentType string, content []byte) error {
	w.Header().Set("Content-Type", contentType)
	_, err := w.Write(content)
	return err
}
