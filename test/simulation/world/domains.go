package world

import (
	"slices"
	"strings"
	"time"

	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/accesstable"
	"toggleadmin/pkg/platform/dynamo"
)

// actors are the users of the service. Each step is one request or command, or a few that belong together.
var actors = slices.Concat(
	named((*actor).changeLifetime, "admin-1", "admin-2"),
	named((*actor).changeToggle, "operator-1", "operator-2"),
	named((*actor).importToggles, "importer-1", "importer-2"),
	named((*actor).changeCrowd, crowdActors...),
	named((*actor).editToggle, "editor-3", "editor-4", "editor-5"),
	named((*actor).editField, "editor-1", "editor-2"),
	named((*actor).careForToggles, "editor-14", "editor-15"),
	named((*actor).manageEnvironments, "admin-5", "admin-6"),
	named((*actor).switchToggle, "operator-7", "operator-8"),
	named((*actor).editStrategies, "editor-6", "editor-7"),
	named((*actor).manageSegments, "editor-8", "editor-9"),
	named((*actor).manageDependencies, "editor-10", "editor-11"),
	named((*actor).manageTags, "editor-12", "editor-13"),
	named((*actor).protectEnvironments, "admin-11", "admin-12"),
	named((*actor).manageClientTokens, "admin-7", "admin-8"),
	named((*actor).poll, applications...),
	named((*actor).manageAccounts, "admin-3", "admin-4"),
	named((*actor).rotate, "pipeline-1", "pipeline-2"),
	named((*actor).manageCredentials, "operator-3", "operator-4"),
	named((*actor).managePeople, "operator-5", "operator-6"),
	named((*actor).signIn, "person-1", "person-2"),
	named((*actor).runJob, "job-1", "job-2"),
	named((*actor).manageTrusts, "admin-14"),
	named((*actor).tryCredential, "intruder"),
	named((*actor).readTraffic, "auditor"),
	named((*actor).keepPreferences, "visitor-1", "visitor-2"),
	named((*actor).workInTeam, "member-1", "member-2", "member-3"),
	named((*actor).manageTeams, "admin-9", "admin-10"),
	named((*actor).workOnRequests, requestActors...),
	named((*actor).protectTeams, "admin-13"),
)

// cast is some of the actors, from first to before end. Those of a world are of one cast or of all.
type cast struct{ first, end uint64 }

var (
	editors    = cast{0, 14}                   // of types, toggles and fields
	activators = cast{7, 30}                   // of toggles, fields and what decides where toggles are on
	others     = cast{32, 49}                  // of accounts and tokens
	teams      = cast{49, 54}                  // of projects, groups and roles
	requests   = cast{52, uint64(len(actors))} // of change requests and rights
	everybody  = cast{0, uint64(len(actors))}
)

// models describe what an operation does to the state of an object, and whether it can have its result.
var models = map[string]func(state string, o op) (bool, string){
	"type": stepValue, "role": stepValue, "enabled": stepValue, "tokens": stepTokens,
	"field": stepRecord, "feedback": stepRecord, "toggle": stepRecord, "environment": stepRecord,
	"segment": stepRecord, "views": stepViews,
}

const absent = "\x00"

var initial = map[string]string{"enabled": "true"}

// prepare fills the tables, through a process without faults.
func (w *World) prepare() {
	w.prepareEngine()
	w.types = typeState{written: map[string]time.Time{}, lifetimes: map[string][]lifetime{}}
	w.toggles = toggleState{
		touched: map[string]time.Time{}, due: map[string]time.Time{}, flippedAt: map[string]time.Time{},
	}
	w.activation = activationState{toggles: map[string][]toggleAt{}}
	w.environments = environmentState{names: environmentNames, states: map[string][]existence{}}
	w.segments = segmentState{named: map[string][]segmentName{}, states: map[int64][]storedSegment{}}
	w.clientTokens = clientTokenState{deleted: map[string]bool{}, ends: map[string][]time.Time{}}
	w.tokens = tokenState{createdAt: map[int64]string{}}
	w.accounts = accountState{deletions: map[int64]*deletion{}}
	w.people = peopleState{bySubject: map[string]int64{}}
	w.traffic = trafficState{answered: map[string]int64{}}
	w.events = eventState{log: map[string][]dynamo.Item{}}
	w.delivery = newDeliveryState()
	w.usage = newUsageState()
	w.care = newCareState()
	w.bus = busState{contents: map[string]string{}, discarded: map[string]bool{}}
	w.webhook = webhookState{received: map[string]bool{}, queuedAt: map[string]time.Time{}}
	p, random := w.newProcess("operator/first"), w.random(6)
	p.direct = true
	client, err := dynamo.NewClient(p.config(), "")
	w.must(err)
	log := eventlog.New(client, w.tables, p.now, 0)
	w.types.names = typeNames[:1+random.IntN(2)]
	w.fields.names = fieldNames[:1+random.IntN(len(fieldNames))]
	w.toggles.names = toggleNames[:2+random.IntN(2)*4]
	w.prepareTypes(featuretype.NewStore(client, w.tables, log), random)
	w.prepareFields(contextfield.NewStore(client, w.tables, log))
	w.prepareEnvironments(environment.NewStore(client, w.tables, log))
	w.prepareProjects(project.NewStore(client, w.tables, log))
	w.prepareToggles(feature.NewStore(client, w.tables, log), random)
	w.prepareCrowd(feature.NewStore(client, w.tables, log), random)
	w.prepareAccounts(w.newOperator(p))
	w.prepareTeams(w.newOperator(p), client, log)
	w.prepareDelivery(client, p)
}

// checkWritten checks what must hold after every write.
func (w *World) checkWritten(c change) {
	switch c.table {
	case "Features":
		w.changedToggle(c)
		w.changedActivation(c)
		w.changedLastSeen(c)
		w.checkFields()
		w.checkEnvironmentUsage()
		w.checkLegalValues()
		w.checkSegments()
		w.checkFamilies()
		w.checkTags()
	case "ContextFields":
		w.checkFields()
		w.checkLegalValues()
	case "Segments":
		w.changedSegment(c)
		w.renamedSegment(c)
		w.deliveredSegment(c)
		w.checkSegments()
	case "Environments":
		w.changedEnvironment(c)
		if !strings.Contains(c.item.String("name"), "#") {
			w.changedTeams()
		}
		w.checkEnvironments()
		w.checkEnvironmentUsage()
		w.checkClientTokens()
	case "Snapshots":
		w.changedSnapshot(c)
	case "Usage":
		w.changedUsage(c)
	case "FeatureTypes":
		w.changedType(c)
	case "PersonalAccessTokens":
		w.changedToken(c)
		w.checkTokens(c.account())
	case "Users":
		w.changedAccount(c)
		w.changedTeams()
		w.checkTokens(c.account())
	case accesstable.Table:
		if isTrust(c.item) {
			w.changedTrust(c)
		}
		w.checkPrecondition(c)
		w.changedTeams()
		w.checkTags()
	case "Identifiers":
		w.checkRelations()
	case "ApiTokens":
		w.changedAPIToken(c)
	case "ClientTokens":
		w.changedClientToken(c)
		w.checkClientTokens()
	}
}

// checkQuiet checks what must hold when nothing happens any more.
func (w *World) checkQuiet() {
	w.checkEvents()
	w.checkExpiring()
	w.checkAccounts()
	w.checkGrants()
	w.checkTrusts()
	w.checkOrderOfTokens()
	w.checkTraffic()
}
