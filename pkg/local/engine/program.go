package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The names of the engines, as people choose them.
const (
	Dynoxide      = "dynoxide"       // of the npm package, the default
	DynamoDBLocal = "dynamodb-local" // AWS's own
)

// ErrMissing says that the program of an engine, or what it runs on, is not installed.
var ErrMissing = errors.New("the engine is not installed")

// Program is all that an Engine must know of the server that it runs. Find and FindDynamoDBLocal make one.
type Program struct {
	Path string // of the executable

	name      string // as people choose it
	database  string // the file of its data, in the engine's folder
	dataFlag  string // its argument that the data follow, by which a running one is known
	dataIsDir bool   // and they are the folder, not the file
	signature string // of a command line: what else it is known by
	remedy    string // what to do when it cannot be run

	poll           time.Duration // between two looks whether it answers
	startTimeout   time.Duration // bounds one start, until it answers
	maxQuickDeaths int           // so many in a row end it for good

	// arguments start it on the port of this machine, with its data, or in memory where there are none.
	arguments func(port int, data string) []string
	// ready says whether the child answers that has written the output, and no other server on its port. An error says that it never will;
	// ErrDatabase that the data are why.
	ready func(ctx context.Context, endpoint, output string) (bool, error)
	// complaint finds in the output why it ended, and says whether the data may be why. Empty: it says nothing of it.
	complaint func(output string) (words string, ofData bool)
}

// data are what the engine with this folder is started with.
func (p *Program) data(dir string) string {
	switch {
	case dir == "":
		return ""
	case p.dataIsDir:
		return dir
	}
	return filepath.Join(dir, p.database)
}

// refuseOthers returns an error for a folder with the data of another engine: credentials and checkpoints beside them are of those data.
func (p *Program) refuseOthers(dir string) error {
	for name, database := range map[string]string{Dynoxide: dynoxideDatabase, DynamoDBLocal: dynamoDBLocalDatabase} {
		if database == p.database {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, database)); err == nil {
			return fmt.Errorf("%s holds the data of %s (%s), not of %s: choose another DATA_DIR, or delete them by `make reset`",
				dir, name, database, p.name)
		}
	}
	return nil
}

// above looks for a file in the folder and in every folder above it, as npm does. Empty: there is none.
func above(folder, file string) (string, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("find the engine: %w", err)
	}
	for {
		path := filepath.Join(abs, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
		parent := filepath.Dir(abs)
		if parent == abs {
			return "", nil
		}
		abs = parent
	}
}
