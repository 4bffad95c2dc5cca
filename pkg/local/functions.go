package local

import (
	"fmt"
	"log/slog"
	"maps"
	"runtime"

	"github.com/aws/aws-sdk-go-v2/aws"

	"toggleadmin/pkg/api/authorizer"
	"toggleadmin/pkg/api/console"
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/feedback"
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/background/staleness"
	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/local/invoke"
	"toggleadmin/pkg/local/samtemplate"
	"toggleadmin/pkg/platform/app"
)

// Names that AWS would assign. The account is the one of AWS's examples.
const (
	region    = "us-east-1"
	accountID = "123456789012"
	stackName = "local"
	apiID     = "local00000"
)

// constructors lists the constructor of each function, by its folder. The main package of a deployed function calls the
// same constructor.
var constructors = map[string]app.Constructor{
	"announce-expiring-tokens":     pat.NewAnnounceFunction,
	"archive-feature":              feature.NewArchiveFunction,
	"authorizer":                   authorizer.NewFunction,
	"console":                      console.NewFunction,
	"count-features":               feature.NewCountFunction,
	"create-context-field":         contextfield.NewCreateFunction,
	"create-feature":               feature.NewCreateFunction,
	"create-own-token":             pat.NewCreateOwnFunction,
	"create-service-account":       serviceaccount.NewCreateFunction,
	"create-service-account-token": pat.NewCreateFunction,
	"delete-context-field":         contextfield.NewDeleteFunction,
	"delete-feature":               feature.NewDeleteFunction,
	"delete-own-token":             pat.NewDeleteOwnFunction,
	"delete-service-account":       serviceaccount.NewDeleteFunction,
	"delete-service-account-token": pat.NewDeleteFunction,
	"deliver-webhook":              webhook.NewDeliverFunction,
	"get-context-field":            contextfield.NewGetFunction,
	"get-feature":                  feature.NewGetFunction,
	"get-own-user":                 user.NewGetOwnFunction,
	"get-service-account-token":    pat.NewGetFunction,
	"get-traffic-usage":            traffic.NewGetFunction,
	"list-context-fields":          contextfield.NewListFunction,
	"list-feature-types":           featuretype.NewListFunction,
	"list-features":                feature.NewListFunction,
	"list-own-tokens":              pat.NewListOwnFunction,
	"list-service-account-tokens":  pat.NewListFunction,
	"list-service-accounts":        serviceaccount.NewListFunction,
	"mark-features-stale":          feature.NewMarkStaleFunction,
	"not-found":                    app.NewNotFoundFunction,
	"publish-events":               eventbus.NewPublishFunction,
	"record-traffic":               traffic.NewRecordFunction,
	"reevaluate-staleness":         staleness.NewReevaluateFunction,
	"revive-feature":               feature.NewReviveFunction,
	"search-events":                eventlog.NewSearchFunction,
	"search-features":              feature.NewSearchFunction,
	"sweep-staleness":              staleness.NewSweepFunction,
	"update-context-field":         contextfield.NewUpdateFunction,
	"update-feature":               feature.NewUpdateFunction,
	"update-feature-type-lifetime": featuretype.NewUpdateLifetimeFunction,
	"update-feedback":              feedback.NewUpdateFunction,
	"update-service-account":       serviceaccount.NewUpdateFunction,
}

// Constructor returns the constructor of the function in a folder, or nil.
func Constructor(name string) app.Constructor { return constructors[name] }

// newFunctions creates the handler of each function, by logical id.
func (s *service) newFunctions(cfg aws.Config) (map[string]*invoke.Function, error) {
	made := make(map[string]*invoke.Function, len(s.template.Functions))
	for i := range s.template.Functions {
		f := &s.template.Functions[i]
		construct, known := s.Functions[f.Name]
		if !known {
			construct, known = constructors[f.Name]
		}
		if !known {
			return nil, fmt.Errorf("the function %s (functions/%s) of the template has no constructor: add one to "+
				"pkg/local/functions.go", f.LogicalID, f.Name)
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
	// Parameters of the template: the value of the first one is known only now, and AWS does not accept http:// in the
	// issuer.
	for name, value := range map[string]string{
		"DYNAMODB_ENDPOINT": s.endpoint, "OIDC_ISSUER": s.OIDCIssuer, "OIDC_CLIENT_ID": s.OIDCClientID,
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
