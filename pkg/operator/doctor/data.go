package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/operator/exitstatus"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/consistency"
	"toggleadmin/pkg/platform/datetime"
	"toggleadmin/pkg/toggle"
)

// seeds checks the data that every installation has.
func (d *doctor) seeds(ctx context.Context) (string, error) {
	i := d.Installation
	marker, err := i.Initialization(ctx)
	if exitstatus.Of(err) == exitstatus.Uninitialized {
		return "", problem(err.Error(), "toggleadmin init "+i.Option)
	}
	if err != nil {
		return "", err
	}
	types, err := featuretype.NewStore(i.Client, i.Tables, nil).List(ctx)
	if err != nil {
		return "", err
	}
	fields, err := contextfield.NewStore(i.Client, i.Tables, nil).List(ctx)
	if err != nil {
		return "", err
	}
	var missing []string
	for _, t := range toggle.DefaultTypes() {
		if !slices.ContainsFunc(types, func(stored toggle.Type) bool { return stored.ID == t.ID }) {
			missing = append(missing, "the feature type "+t.ID)
		}
	}
	if len(missing) > 0 {
		return "", problem("missing: "+strings.Join(missing, ", "),
			"no command of this service deletes them, so data was lost: restore the tables from a backup (see docs/backup.md)")
	}
	accounts, err := user.NewStore(i.Client, i.Tables, nil).List(ctx)
	if err != nil {
		return "", err
	}
	administrators := 0
	for _, u := range accounts {
		if u.Kind == user.Person && u.Role == access.RoleAdmin && !u.Disabled {
			administrators++
		}
	}
	if administrators == 0 {
		return "", problem("no administrator is enabled",
			fmt.Sprintf("enable one (toggleadmin users enable ID %[1]s) or add one (toggleadmin users add %[1]s --role Admin …)",
				i.Option))
	}
	return fmt.Sprintf("initialized at %s: %d feature types, %d context fields, enabled administrators: %d",
		datetime.Format(marker.At), len(types), len(fields), administrators), nil
}

// deletions looks for accounts whose deletion has begun but not ended. They are unusable, and keep their username or
// e-mail address.
func (d *doctor) deletions(ctx context.Context) (string, error) {
	unfinished, err := user.NewStore(d.Installation.Client, d.Installation.Tables, nil).Unfinished(ctx)
	if err != nil {
		return "", err
	}
	if len(unfinished) == 0 {
		return "every deletion of an account has ended", nil
	}
	ids := make([]string, len(unfinished))
	for i, u := range unfinished {
		ids[i] = fmt.Sprintf("%s %d", u.Kind, u.ID)
	}
	return "", problem("the deletion of these accounts has not ended: "+consistency.List(ids),
		"if it is not running now, repeat it: `toggleadmin users delete ID` or `toggleadmin service-accounts delete ID`")
}

// deletionsOfEnvironments looks for environments whose deletion has begun but not ended. Toggles can still have
// strategies in them.
func (d *doctor) deletionsOfEnvironments(ctx context.Context) (string, error) {
	unfinished, err := environment.NewStore(d.Installation.Client, d.Installation.Tables, nil).Unfinished(ctx)
	if err != nil {
		return "", err
	}
	if len(unfinished) == 0 {
		return "every deletion of an environment has ended", nil
	}
	names := make([]string, len(unfinished))
	for i, deletion := range unfinished {
		names[i] = deletion.Name
	}
	return "", problem("the deletion of these environments has not ended: "+consistency.List(names),
		"if it is not running now, repeat it: DELETE /api/admin/environments/NAME")
}

// maxAhead is more than the clock of this computer and those of the functions can differ.
const maxAhead = 5 * time.Minute

// eventTimes looks for an event that is dated after the clock of this computer. The later events of its subject get
// higher ids, and so are dated after it too.
func (d *doctor) eventTimes(ctx context.Context) (string, error) {
	events := eventlog.NewReader(d.Installation.Log(d.Now))
	newest, err := events.Newest(ctx, eventlog.Filter{From: d.Now().Add(maxAhead)}, 1)
	if err != nil {
		return "", err
	}
	if len(newest) == 0 {
		return "no event is dated after the clock of this computer", nil
	}
	if err := user.NewNames(d.Installation.Client, d.Installation.Tables).Fill(ctx, newest); err != nil {
		return "", err
	}
	e := newest[0]
	return "", problem(
		fmt.Sprintf("the event %d about %s, by %s, is dated %s, after the clock of this computer", e.ID, e.Subject,
			e.By.Name, datetime.Format(e.CreatedAt())),
		"correct the clock that is wrong: of this computer, or of the one that made the change. The events of a subject "+
			"stay in order; until that time, its next events are dated after this one")
}
