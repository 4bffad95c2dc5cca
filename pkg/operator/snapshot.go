package operator

import (
	"context"
	"slices"

	"toggleadmin/pkg/delivery/snapshot"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/platform/jsonbody"
)

// Snapshot is what applications in an environment download.
type Snapshot struct {
	Environment string            `json:"environment"`
	Version     int64             `json:"version"` // 1 and higher within an epoch
	Epoch       string            `json:"epoch"`
	CompiledAt  string            `json:"compiledAt"`     // the time of the last change
	CheckedAt   string            `json:"checkedAt"`      // when everything was compared with the tables last
	Tag         string            `json:"tag"`            // the ETag of the document
	Size        int               `json:"size"`           // of the document, in bytes
	Compressed  int               `json:"compressedSize"` // with gzip, in bytes
	Document    snapshot.Response `json:"document"`       // the response to GET /api/client/features
}

// Snapshot returns what an application with a token of projects downloads. No projects, or *, stand for all. It only
// reads.
func (o *Operator) Snapshot(ctx context.Context, environment string, projects []string) (Snapshot, error) {
	projects, err := CheckProjects(projects)
	if err != nil {
		return Snapshot{}, err
	}
	if err := o.CheckEnvironment(ctx, environment); err != nil {
		return Snapshot{}, err
	}
	table := o.installation.Tables[snapshottable.Table]
	pointer, current, exists, err := snapshottable.Current(ctx, o.installation.Client, table, environment)
	if err != nil {
		return Snapshot{}, err
	}
	if !exists {
		return Snapshot{}, exitstatus.Errorf(exitstatus.NotFound,
			"the environment %q has no snapshot yet: sweep-snapshots compiles one each minute; `toggleadmin doctor %s` "+
				"checks it", environment, o.installation.Option)
	}
	d, err := current.Document()
	if err != nil {
		return Snapshot{}, err
	}
	selection := snapshot.NewSelection(snapshot.Query{
		Projects: slices.Sorted(slices.Values(projects)), Environment: environment,
	})
	response := selection.Response(selection.From(d), current.Epoch, current.Versions)
	text, err := jsonbody.Encode(response)
	if err != nil {
		return Snapshot{}, err
	}
	compressed, err := snapshot.Compress(text)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{
		Environment: environment,
		Version:     pointer.Version,
		Epoch:       pointer.Epoch,
		CompiledAt:  datetime.Format(pointer.CompiledAt),
		CheckedAt:   datetime.Format(pointer.CheckedAt),
		Tag:         response.Meta.ETag,
		Size:        len(text),
		Compressed:  len(compressed),
		Document:    response,
	}, nil
}
