package judgment

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/summary"
)

// maxRedirects bounds the redirects that wait for their clients.
const maxRedirects = 1000

// redirects are calls that were answered with a redirect that the client has not followed so far. If the client
// follows, the two exchanges are one call, with the outcome of the last one.
type redirects struct {
	waiting map[led][]redirect
	count   int
}

// led is a client and the target of its redirect. If a client is led past the recorder to the path that it requested,
// another request for that path does not prove that it followed.
type led struct {
	client, url string
	unseen      bool
}

// A redirect is a call that was answered with a redirect. Its Text is the target.
type redirect struct {
	FailedCalls
	method string
	back   bool // it leads to the same agent through the recorder, so following is visible
	past   bool // it leads to the agent's own address, but the client uses the address of a tap
}

// take keeps a call whose outcome is not known, if it was answered with a redirect.
func (r *redirects) take(s *summary.Summary, m *summary.Member) bool {
	if !address.IsRedirect(s.Status) || r.count == maxRedirects {
		return false
	}
	to, back := address.Redirect(s.AgentURL, s.Target, s.Host, s.Said)
	past := !back && address.Of(address.Origin(to)) == address.Of(address.Origin(s.AgentURL))
	key := led{s.Link.Client, to, past && to == address.Exact(s.AgentURL, s.Target)}
	if r.waiting == nil {
		r.waiting = make(map[led][]redirect)
	}
	r.waiting[key] = append(r.waiting[key], redirect{
		FailedCalls: FailedCalls{
			Exchange: s.Seq, Link: s.Link, Binding: s.Binding, Operation: m.Asked, Error: fmt.Sprintf("HTTP %d", s.Status),
			Text: address.Shown(s.Said), Count: 1,
		}, method: s.Method, back: back, past: past,
	})
	r.count++
	return true
}

// followed returns the redirect that led a client to an exchange, if any, and forgets it.
func (r *redirects) followed(s *summary.Summary) (first redirect, ok bool) {
	if r.count == 0 {
		return first, false
	}
	key := led{client: s.Link.Client, url: address.Exact(s.AgentURL, s.Target)}
	list := r.waiting[key]
	if len(list) == 0 || list[0].Exchange >= s.Seq {
		return first, false
	}
	first = list[0]
	if r.count--; len(list) == 1 {
		delete(r.waiting, key)
	} else {
		r.waiting[key] = list[1:]
	}
	return first, true
}

// all returns the redirects that were not followed, in the order of their exchanges.
func (r *redirects) all() (list []redirect) {
	for _, some := range r.waiting {
		list = append(list, some...)
	}
	slices.SortFunc(list, func(a, b redirect) int { return cmp.Compare(a.Exchange, b.Exchange) })
	return list
}

// gap returns what the recording lacks about the call: its outcome.
func (r *redirect) gap() NotSeen {
	where := "elsewhere"
	if r.past {
		where = "bypassing the recorder"
	}
	why := fmt.Sprintf("status %s redirects its client %s", r.Error[len("HTTP "):], where)
	if r.Text != "" {
		why += ": " + r.Text
	}
	return NotSeen{What: seenInPart, Why: why, Exchange: r.Exchange, Count: 1}
}

// cameAfter records that an exchange follows a redirect. The exchange before it is then no separate call. If the client
// came with GET after a POST, the earlier call has failed, since its body was lost.
func (a *Account) cameAfter(c *Calls, s *summary.Summary) {
	before, ok := a.led.followed(s)
	if !ok {
		return
	}
	counts := Calls{Link: before.Link, Made: -1}
	if before.method == http.MethodPost && s.Method == http.MethodGet {
		before.Text = fmt.Sprintf("leads to %s, and the client followed with GET and without the request's body", before.Text)
		counts = Calls{Link: before.Link, Failed: 1, Failures: map[string]int{before.Error: 1}}
		a.failed.add(before.FailedCalls)
	}
	if c.Link == before.Link {
		c.Merge(&counts)
	} else {
		a.changed = append(a.changed, counts)
	}
}
