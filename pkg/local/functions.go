package local

import (
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/api/codereference"
	"toggleadmin/pkg/api/console"
	"toggleadmin/pkg/api/constraint"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/environmentremoval"
	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuredependency"
	"toggleadmin/pkg/api/featurelink"
	"toggleadmin/pkg/api/featuresearch"
	"toggleadmin/pkg/api/featurestate"
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/api/featuretag"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/feedback"
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/person"
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/api/rights"
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/api/savedview"
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/api/tagtype"
	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/background/schedule"
	"toggleadmin/pkg/background/staleness"
	"toggleadmin/pkg/background/tokenexpiry"
	"toggleadmin/pkg/background/usagemerger"
	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/samtemplate"
)

// Names that AWS would assign. The account is the one of AWS's examples.
const (
	region    = "us-east-1"
	accountID = "123456789012"
	stackName = "local"
	apiID     = "local00000"
)

// Operations returns the operations of the API.
func Operations() []app.Operation {
	return slices.Concat(
		changerequest.Operations(),
		clientmetrics.Operations(),
		clienttoken.Operations(),
		codereference.Operations(),
		savedview.Operations(),
		constraint.Operations(),
		contextfield.Operations(),
		environment.Operations(),
		environmentremoval.Operations(),
		project.Operations(),
		eventsearch.Operations(),
		featuredependency.Operations(),
		feature.Operations(),
		featuresearch.Operations(),
		featurelink.Operations(),
		featurestate.Operations(),
		featureswitch.Operations(),
		featurestrategy.Operations(),
		featuretag.Operations(),
		featuretype.Operations(),
		feedback.Operations(),
		group.Operations(),
		pat.Operations(),
		person.Operations(),
		playground.Operations(),
		rights.Operations(),
		role.Operations(),
		segment.Operations(),
		serviceaccount.Operations(),
		trust.Operations(),
		tagtype.Operations(),
		tokenlist.Operations(),
		traffic.Operations(),
		user.Operations(),
	)
}

// Functions returns the functions that serve no operation of the API.
func Functions() []app.Function {
	return slices.Concat(
		app.Functions(),
		authorizer.Functions(),
		client.Functions(),
		compiler.Functions(),
		console.Functions(),
		eventbus.Functions(),
		schedule.Functions(),
		staleness.Functions(),
		tokenexpiry.Functions(),
		traffic.Functions(),
		usagemerger.Functions(),
		webhook.Functions(),
	)
}

// Constructor returns the constructor of the function in a folder, or nil.
func Constructor(name string) app.Constructor {
	if construct := app.Find(Operations(), name); construct != nil {
		return construct
	}
	return app.Find(Functions(), name)
}

// newFunctions creates the handler of each function, by logical id.
func (s *service) newFunctions(cfg aws.Config) (map[string]*invoke.Function, error) {
	made := make(map[string]*invoke.Function, len(s.template.Functions))
	for i := range s.template.Functions {
		f := &s.template.Functions[i]
		construct, known := s.Functions[f.Name]
		if !known {
			construct = Constructor(f.Name)
		}
		if construct == nil {
			return nil, fmt.Errorf("the function %s (functions/%s) of the template is in no operations.go: add it to the "+
				"one of its domain, and the domain to pkg/local/functions.go", f.LogicalID, f.Name)
		}
		handler, err := construct(s.functionEnv(f, cfg))
		if err != nil {
			return nil, fmt.Errorf("the function %s cannot be created, correct its variables in the template: %w",
				f.LogicalID, err)
		}
		made[f.LogicalID] = &invoke.Function{
			Name:    f.Name,
			Handler: handler,
			ARN:     "arn:aws:lambda:" + region + ":" + accountID + ":function:" + stackName + "-" + f.LogicalID,
			Timeout: f.Timeout,
		}
	}
	return made, nil
}

// functionEnv returns what a function reads from its environment.
func (s *service) functionEnv(f *samtemplate.Function, cfg aws.Config) *app.Env {
	variables := maps.Clone(f.Environment)
	// The values of endpoints and URLs are known only now, and AWS does not accept http:// in the issuer.
	for name, value := range map[string]string{
		"DYNAMODB_ENDPOINT": s.endpoint, "OIDC_ISSUER": s.OIDCIssuer, "OIDC_CLIENT_ID": s.OIDCClientID,
		"CLIENT_URL": s.clientURL(),
	} {
		if _, used := variables[name]; used {
			variables[name] = value
		}
	}
	if s.APIOptions != nil {
		cfg.APIOptions = s.APIOptions(f.Name)
	}
	logger := s.out.FunctionLogger(f.Name, slog.LevelWarn)
	switch {
	case len(f.Queues)+len(f.LogSubscriptions) > 0:
		logger = s.out.EventLogger(f.Name, slog.LevelWarn)
	case len(f.Streams)+len(f.Schedules) > 0:
		logger = s.out.EventLogger(f.Name, slog.LevelInfo)
	}
	return &app.Env{
		Vars: variables, AWS: cfg, Now: s.Now, Random: s.Random, Logger: logger, Local: true,
		Concurrency: runtime.GOMAXPROCS(0), // the engine shares the CPUs, so more calls would delay the first flag
	}
}
