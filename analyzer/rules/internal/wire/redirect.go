package wire

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/reach"
	"a2atap/proxy/a2a"
)

var httpRedirectNotFollowed = &analysis.Rule{
	ID:       "http-redirect-not-followed",
	Title:    "client does not follow a redirect",
	Category: analysis.Interop,
	Level:    analysis.Advice,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen | analysis.RedirectMissed,
	Needs:    []*analysis.Tracker{reach.Tracker},
	Bindings: rule.OnAll,
	Cites:    rule.Cite("RFC 9110 §15.4", rule.Every...),
	Doc: `The agent, or the host in front of it, redirects the client to another path, often the same path with or
without a trailing slash. Many A2A clients do not follow redirects, and their call fails. Other clients need two
requests for each call.`,
	Fix: `Serve the URL that the card names, or put the URL that is served into the card. Turn off "trailing slash"
redirects, or register the route with and without the slash. Configure the client to follow redirects. A Location with
the agent's own address leads clients past the recorder: write a path instead, or record with the forward proxy, which
sees both addresses.`,
	Silent: `Redirects that the client follows, or whose target it has called in the meantime, and redirects to other
hosts, where the recording does not show whether the client followed. No one is at fault if no card names the URL. If
several redirects lead to one URL, only the first is reported, when the recording ends.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.AnswerSeen {
			p.Applied()
			return
		}
		r := reach.RedirectOf(p)
		if r.Lost {
			return
		}
		side := a2a.Nobody
		if r.Declared {
			side = a2a.Agent
		}
		seen := fmt.Sprintf("%s is answered with status %d to %s", redirectedText(p, r.Count), r.Status,
			analysis.QuoteText(r.Location))
		if r.Past {
			p.Report(p.Place, seen+", past the recorder", "expected a path, which leads back through the recorder",
				analysis.By(side))
			return
		}
		p.Report(p.Place, seen+", and the client did not follow", "expected an answer at the requested URL",
			analysis.By(side))
	},
}

var httpRedirectRequestLost = &analysis.Rule{
	ID:       "http-redirect-request-lost",
	Title:    "redirect that turns POST into GET",
	Category: analysis.Interop,
	Level:    analysis.Advice,
	Gravest:  analysis.Warning,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen | analysis.RedirectMissed,
	Needs:    []*analysis.Tracker{reach.Tracker},
	Bindings: rule.OnCall,
	Cites:    rule.Cite("RFC 9110 §15.4", rule.Every...),
	Doc: `After 301, 302 and 303 HTTP clients request the new URL with GET and drop the body of the request. The call
never reaches the agent, and the answer to the GET is of no use to the client.`,
	Fix: `Serve the URL that the card names. If a redirect is needed, send 307 or 308, which keep the method and the
body.`,
	Silent: `Redirects after which the client did not send a GET.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.AnswerSeen {
			p.Applied()
			return
		}
		if r := reach.RedirectOf(p); r.Lost {
			p.Report(p.Place, fmt.Sprintf("%s is answered with status %d to %s, and the client followed with GET",
				redirectedText(p, 1), r.Status, analysis.QuoteText(r.Location)), "expected status 307 or 308, which keep method and body")
		}
	},
}

// redirectedText names the redirected call, and how often it was redirected.
func redirectedText(p *analysis.Pass, count int) string {
	if count == 1 {
		return asked(p)
	}
	return fmt.Sprintf("%s (%d times)", asked(p), count)
}
