package recorder

import (
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy"
)

// WebhookHelp is the part of the help that says how push notifications are observed.
const WebhookHelp = `Push notifications are observed too where agent and webhook are on this machine and the webhook is on
plain HTTP: the agent is given an address of its tap in the place of the webhook's URL, and what it sends there is
forwarded to the webhook. In answers the client finds its own URL again. Elsewhere the URL passes as it came, and the
link says "webhooks not observed"; --webhook-url names an address under which agents reach a tap, such as that of a
tunnel, and leads all webhooks there. The addresses hold only as long as a recorder with the same redaction key listens
there: what still points at it is listed at the end. --no-webhooks changes no webhook.`

// A webhookFlags says whether and how push notifications are led through the taps.
type webhookFlags struct {
	url string
	off bool
}

func (o *webhookFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.url, "webhook-url", "", "lead all push notifications through the taps: agents reach one of them under "+
		"`URL`, such as https://tunnel.example")
	f.BoolVar(&o.off, "no-webhooks", false, "do not change the URLs of webhooks: push notifications go past the taps")
}

// spec returns what a proxy takes, nil if webhooks are not to be changed.
func (o *webhookFlags) spec(noRewrite bool, key func() ([]byte, error)) (*proxy.WebhookSpec, error) {
	if o.off || noRewrite {
		if o.url != "" {
			return nil, cli.Usage("--webhook-url leads webhooks through the taps, which needs an --agent, and neither --no-webhooks " +
				"nor --no-rewrite")
		}
		return nil, nil
	}
	var spec proxy.WebhookSpec
	if o.url != "" {
		u, err := url.Parse(o.url)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, cli.Usage("--webhook-url is to be http://HOST[:PORT] or https://HOST[:PORT], without anything behind it; " +
				"the path is the tap's")
		}
		spec.URL = u
	}
	var err error
	spec.Key, err = key()
	return &spec, err
}
