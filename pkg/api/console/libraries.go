package console

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// lock lists the libraries that pkg/api/console/static contains, as npm audit and other scanners read it.
//
//go:embed libraries/package-lock.json
var lock []byte

// Libraries returns the versions of the npm packages that the web pages contain, by name.
func Libraries() (map[string]string, error) {
	var file struct {
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal(lock, &file); err != nil {
		return nil, fmt.Errorf("read the list of libraries: %w", err)
	}
	versions := map[string]string{}
	for path, p := range file.Packages {
		if name, ok := strings.CutPrefix(path, "node_modules/"); ok {
			versions[name] = p.Version
		}
	}
	return versions, nil
}
