package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"a2atap/analyzer"
	"a2atap/analyzer/track/push"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy"
)

// diversionHelp is the part of the help that says how push notifications are observed.
const diversionHelp = `Push notifications are observed too where agent and webhook are on this machine and the webhook is on
plain HTTP: the agent is given an address of its tap in the place of the webhook's URL, and what it sends there is
forwarded to the webhook. In answers the client finds its own URL again. Elsewhere the URL passes as it came, and the
link says "webhooks not observed"; --webhook-url names an address under which agents reach a tap, such as that of a
tunnel, and leads all webhooks there. The addresses hold only as long as a recorder with the same redaction key listens
there: what still points at it is listed at the end. --no-webhooks changes no webhook.`

// A diversion says whether and how push notifications are led through the taps.
type diversion struct {
	url string
	off bool
}

func (o *diversion) register(f *pflag.FlagSet) {
	f.StringVar(&o.url, "webhook-url", "", "lead all push notifications through the taps: agents reach one of them under "+
		"`URL`, such as https://tunnel.example")
	f.BoolVar(&o.off, "no-webhooks", false, "do not change the URLs of webhooks: push notifications go past the taps")
}

// spec returns what a proxy takes, nil if webhooks are not to be changed.
func (o *diversion) spec(noRewrite bool, key func() ([]byte, error)) (*proxy.WebhookSpec, error) {
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

// standing is told at the end of a recording which push notification configs still point at it.
func (p *recordPrinter) standing(all []push.Standing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.configs = all
}

// maxStanding bounds the configs that are listed as text.
const maxStanding = 20

// printStanding lists the push notification configs that still point at the recorder. Nobody else prints any more.
func (p *recordPrinter) printStanding() {
	if p.json {
		for _, c := range p.configs {
			p.object("webhook", struct {
				Agent   string `json:"agent"`
				Client  string `json:"client"`
				Task    string `json:"task"`
				Config  string `json:"config,omitempty"`
				Address string `json:"address"`
			}{c.Link.Agent, c.Link.Client, c.TaskID, c.ConfigID, c.At})
		}
	}
	if len(p.configs) == 0 {
		return
	}
	fmt.Fprintf(p.e.Err, "record: %s still %s at this recorder, of tasks that were not seen to end. Until one with the "+
		"same redaction key listens there again, notifications fail. Delete them at the agent, or start record again with "+
		"--agent NAME=URL@PORT:\n", analyzer.Plural(len(p.configs), "push notification config"), pointWord(len(p.configs)))
	for i, c := range p.configs {
		if i == maxStanding {
			fmt.Fprintf(p.e.Err, "  and %d more\n", len(p.configs)-maxStanding)
			break
		}
		line := "  " + c.Link.Agent + ": task " + orUnknown(c.TaskID)
		if c.ConfigID != "" {
			line += ", config " + c.ConfigID
		}
		fmt.Fprintln(p.e.Err, analyzer.Clean(line+", of "+c.Link.Client+", at "+c.At))
	}
}

func pointWord(n int) string {
	if n == 1 {
		return "points"
	}
	return "point"
}

func orUnknown(id string) string {
	if id == "" {
		return "not known"
	}
	return id
}
