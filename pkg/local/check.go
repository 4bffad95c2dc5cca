package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/local/engine"
	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
	"toggleadmin/pkg/platform/oidc"
	"toggleadmin/pkg/samtemplate"
)

// check checks the configuration. The folder comes last, so that an invalid configuration leaves none.
func (s *service) check(ctx context.Context) error {
	err := cmp.Or(s.checkIssuer(), s.checkWebhook(), s.checkClient(), s.loadTemplate())
	if err != nil {
		return err
	}
	if s.Port == s.ClientPort && s.Port != 0 {
		return fmt.Errorf("PORT and CLIENT_PORT are both %d: choose different ports (0 is a free one)", s.Port)
	}
	if s.listener, err = listen(ctx, "PORT", s.Port); err != nil {
		return err
	}
	if s.clientListener, err = listen(ctx, "CLIENT_PORT", s.ClientPort); err != nil {
		return err
	}
	return s.checkData(ctx)
}

// checkData finds the engine and locks the folder.
func (s *service) checkData(ctx context.Context) (err error) {
	if s.endpoint != "" {
		err = checkEndpoint(ctx, s.endpoint)
	} else {
		s.program, err = engine.Find(filepath.Dir(s.Template))
	}
	if err == nil && s.DataDir != "" {
		s.lock, err = lockDataDir(s.DataDir)
	}
	return err
}

// The names of parameters of Parameter Store.
const (
	webhookParameter = "/local/webhook"
	originParameter  = "/local/origin"
)

// loadTemplate reads the template. functionEnv replaces the URLs and the client id of its parameters, because AWS
// accepts fewer values.
func (s *service) loadTemplate() (err error) {
	p := map[string]string{
		"ClientApi": "true", "MaxTokenDays": strconv.Itoa(s.MaxTokenDays),
		"SendEventsToBus": strconv.FormatBool(!s.RequestsOnly),
	}
	if s.OIDCIssuer != "" {
		p["OidcIssuer"], p["OidcClientId"], p["OidcDefaultRole"] = "https://issuer.invalid", "local", s.OIDCDefaultRole
		if s.OIDCGroupsClaim != "" {
			p["OidcGroupsClaim"] = s.OIDCGroupsClaim
		}
	}
	if s.GroupsMaxAgeDays != "" {
		p["GroupsMaxAgeDays"] = s.GroupsMaxAgeDays
	}
	if s.WebhookURL != "" {
		p["WebhookSecretName"] = webhookParameter
		if s.WebhookEvents != "" {
			p["WebhookEvents"] = s.WebhookEvents
		}
	}
	if s.TrustedProxies != "" {
		p["TrustedProxies"] = s.TrustedProxies
	}
	if s.ClientOriginSecret != "" {
		p["ClientOriginSecret"] = originParameter
	}
	s.template, err = samtemplate.Load(s.Template, samtemplate.Settings{
		Region: region, AccountID: accountID, StackName: stackName, Parameters: p,
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("TEMPLATE %s does not exist: start in the project's folder, or name another file", s.Template)
	case err != nil:
		return fmt.Errorf("TEMPLATE %s cannot be used, correct it: %w", s.Template, err)
	}
	return nil
}

// checkIssuer returns an error if the settings of the OpenID Connect issuer cannot be used.
func (s *service) checkIssuer() error {
	if _, err := app.ParseNumber(cmp.Or(s.GroupsMaxAgeDays, "0"), 0, user.MaxGroupsDays); err != nil {
		return fmt.Errorf("GROUPS_MAX_AGE_DAYS %w", err)
	}
	_, known := access.ParseRole(s.OIDCDefaultRole)
	_, err := oidc.New(oidc.Config{Issuer: s.OIDCIssuer, ClientID: s.OIDCClientID, Loopback: true, Now: s.Now})
	switch {
	case err != nil || s.OIDCDefaultRole == "":
		return err
	case !known:
		return fmt.Errorf("OIDC_DEFAULT_ROLE %q is not a role: use Viewer, Editor or Admin, or unset it", s.OIDCDefaultRole)
	case s.OIDCIssuer == "":
		return errors.New("OIDC_DEFAULT_ROLE is set without OIDC_ISSUER, the issuer at which people sign in: set both, or " +
			"unset it")
	}
	return nil
}

// checkWebhook returns an error if the settings of the webhook cannot be used.
func (s *service) checkWebhook() error {
	if s.WebhookURL == "" {
		if s.WebhookEvents != "" {
			return errors.New("WEBHOOK_EVENTS is set without WEBHOOK_URL, which receives the events: set both, or unset it")
		}
		return nil
	}
	if strings.ContainsFunc(s.WebhookURL, unicode.IsSpace) { // which separates the URL and the secrets in the parameter
		return errors.New("WEBHOOK_URL cannot be used: it contains white space")
	}
	if _, err := webhook.NewClient(s.WebhookURL, true, s.Now); err != nil {
		return fmt.Errorf("WEBHOOK_URL cannot be used: %w", err)
	}
	if s.WebhookEvents == "" || s.WebhookEvents == "*" {
		return nil
	}
	for name := range strings.SplitSeq(s.WebhookEvents, ",") {
		if !slices.Contains(eventlog.Types(), eventlog.Type(name)) {
			return fmt.Errorf("WEBHOOK_EVENTS %q is not a type of event: use * for all, or types separated by commas: %s",
				name, strings.Trim(fmt.Sprint(eventlog.Types()), "[]"))
		}
	}
	return nil
}

// checkClient returns an error if the settings of proxies in front of the URL for applications cannot be used.
func (s *service) checkClient() error {
	if s.TrustedProxies != "" {
		if _, err := client.ParseProxies(s.TrustedProxies); err != nil {
			return fmt.Errorf("TRUSTED_PROXIES %q %w", s.TrustedProxies, err)
		}
	}
	if s.ClientOriginSecret != "" {
		if err := client.CheckOriginSecrets(s.ClientOriginSecret); err != nil {
			return fmt.Errorf("CLIENT_ORIGIN_SECRET %w", err)
		}
	}
	return nil
}

// checkEndpoint returns an error if DYNAMODB_ENDPOINT is not a URL at which DynamoDB responds.
func checkEndpoint(ctx context.Context, endpoint string) error {
	client, err := dynamo.NewClient(awsConfig(endpoint), endpoint)
	if err != nil {
		return fmt.Errorf("DYNAMODB_ENDPOINT %q cannot be used: %w", endpoint, err)
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	once := func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
	_, err = client.ListTables(ctx, &dynamodb.ListTablesInput{}, once)
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	hint := fmt.Sprintf("DYNAMODB_ENDPOINT %s does not respond as DynamoDB: check that an engine runs there", endpoint)
	if failed, ok := errors.AsType[*url.Error](err); ok { // no connection, or no HTTP response
		return fmt.Errorf("%s: %w", hint, failed.Err)
	}
	return errors.New(hint) // other errors are about responses that the SDK cannot read
}

// FreePort returns the port of the setting PORT, or a free one for 0. It returns an error if the port is in use.
func FreePort(ctx context.Context, port int) (int, error) {
	listener, err := listen(ctx, "PORT", port)
	if err != nil {
		return 0, err
	}
	address, err := netip.ParseAddrPort(listener.Addr().String())
	return int(address.Port()), errors.Join(err, listener.Close())
}

// listen opens the port of a setting.
func listen(ctx context.Context, setting string, port int) (net.Listener, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s %d is in use: stop the process that listens there, or choose another port (0 is a "+
			"free one)", setting, port)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %d cannot be used, choose another port (0 is a free one): %w", setting, port, err)
	}
	return listener, nil
}
