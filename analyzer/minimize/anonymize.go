package minimize

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// anonymize replaces everything that does not belong to the protocol with neutral words: equal texts get equal words.
// It returns descriptions of texts that cannot be replaced.
func (j *judge) anonymize() (kept []string) {
	j.nameless = true
	j.forget()
	j.want(&j.finding)
	j.knows(j.findings)
	give := func(what string, done bool) {
		if !done && j.ctx.Err() == nil {
			kept = append(kept, what)
		}
	}
	give("names of clients and agents", j.neutralPeers())
	for _, host := range j.hosts() {
		give("the host "+host, j.replaceHost(host))
	}
	give("ids and times of exchanges", j.neutralMarks())
	kept = append(kept, j.neutralFields()...)
	kept = append(kept, j.neutralStrings()...)
	for _, x := range j.now {
		for i, t := range textsOf(x) {
			if body := t.get(x); len(body) > 0 && !isJSON(body) {
				at := analysis.Place{Exchange: x.Seq, Response: i > 0}
				kept = append(kept, "text that is not JSON in "+at.String())
			}
		}
		if len(x.Notes)+len(x.Rewrites) > 0 {
			kept = append(kept, fmt.Sprintf("notes and rewrites of exchange %d", x.Seq))
		}
	}
	return kept
}

// neutralPeers names clients and agents by their numbers, and removes the details of their faults.
func (j *judge) neutralPeers() bool {
	var clients, agents []string
	number := func(list *[]string, name string) string {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
		return fmt.Sprintf("%d", 1+slices.Index(*list, name))
	}
	return j.rewrite(func(x *capture.Exchange) {
		x.Client.Name = "client-" + number(&clients, x.Client.Name)
		x.Agent.Name = "agent-" + number(&agents, x.Agent.Name)
		if x.Fault != nil {
			x.Fault = &capture.TransportFault{Kind: x.Fault.Kind, Side: x.Fault.Side}
		}
	})
}

// neutralMarks replaces exchange ids with a transcript's default ids, and begins with a transcript's default year.
func (j *judge) neutralMarks() bool {
	list, err := unsaid(j.now, idLine)
	if err != nil || len(list) == 0 {
		return err == nil
	}
	by := newYear.Sub(list[0].Started)
	for _, x := range list {
		x.Started = x.Started.Add(by)
	}
	return j.try(list)
}

var authority = regexp.MustCompile(`\bhttps?://([A-Za-z0-9._~-]+(:[0-9]+)?|\[[0-9A-Fa-f:.]+\](:[0-9]+)?)`)

// hosts returns the hosts in the exchanges, with their ports, in order of appearance, except for neutral ones and those
// that every machine has.
func (j *judge) hosts() []string {
	var list []string
	add := func(host string) {
		name := host
		if h, _, err := net.SplitHostPort(host); err == nil {
			name = h
		}
		ip := net.ParseIP(strings.Trim(name, "[]"))
		known := name == "" || name == "localhost" || ip != nil && ip.IsLoopback() || strings.HasSuffix(name, ".example")
		if !known && !slices.Contains(list, host) {
			list = append(list, host)
		}
	}
	for _, x := range j.now {
		if u, err := url.Parse(x.Agent.URL); err == nil {
			add(u.Host)
		}
		head := capture.ParseRequestHead(x.Request.Head)
		add(head.Fields.Get("Host"))
		for _, part := range parts(x) {
			for _, m := range authority.FindAllSubmatch(part, -1) {
				add(string(m[1]))
			}
		}
	}
	return list
}

// parts returns the bytes of an exchange that may contain a host: heads, bodies, events, and the JSON of gRPC messages.
func parts(x *capture.Exchange) [][]byte {
	var list [][]byte
	eachPart(x, func(p []byte) []byte {
		list = append(list, p)
		return p
	})
	return list
}

// eachPart replaces every part of an exchange with the result of f.
func eachPart(x *capture.Exchange, f func([]byte) []byte) {
	x.Request.Head = f(x.Request.Head)
	head := capture.ParseRequestHead(x.Request.Head)
	if body := &x.Request.Body; head.GRPCMessage() == nil {
		body.Data = f(body.Data)
	} else if text := asked.text(x); text != nil {
		if now := f(text); !bytes.Equal(now, text) {
			asked.set(x, now) // text that is not a message stays, and is checked
		}
	}
	r := x.Response
	if r == nil {
		return
	}
	r.Head, r.Trailer, r.Body.Data = f(r.Head), f(r.Trailer), f(r.Body.Data)
	for i := range r.Events {
		if e := &r.Events[i]; e.As == nil {
			e.Raw = f(e.Raw)
		} else if data, _ := eventData(e); data != nil {
			if now := f(data); !bytes.Equal(now, data) {
				setEventData(r, i, now) // as above
			}
		}
	}
}

// replaceInParts replaces one word with another everywhere.
func replaceInParts(x *capture.Exchange, was, is string) {
	eachPart(x, func(p []byte) []byte {
		if len(p) == 0 {
			return p // nil must not become empty
		}
		return bytes.ReplaceAll(p, []byte(was), []byte(is))
	})
	fitSizes(x)
}

// replaceHost replaces a host with a neutral name.
func (j *judge) replaceHost(host string) bool {
	j.named++
	neutral := fmt.Sprintf("host-%d.example", j.named)
	return j.rewrite(func(x *capture.Exchange) {
		x.Agent.URL = strings.ReplaceAll(x.Agent.URL, "://"+host, "://"+neutral)
		x.Request.Head = replaceHostField(x.Request.Head, host, neutral)
		replaceInParts(x, "://"+host, "://"+neutral)
	})
}

func replaceHostField(head []byte, host, neutral string) []byte {
	lines := headLines(head)
	for i, line := range lines {
		if isField(line, "Host") {
			lines[i] = bytes.Replace(line, []byte(host), []byte(neutral), 1)
		}
	}
	return bytes.Join(lines, nil)
}

// fitSizes updates the sizes of bodies after changes in place.
func fitSizes(x *capture.Exchange) {
	if b := &x.Request.Body; b.Data != nil && b.Size != capture.NotKnown && !b.Decoded {
		b.Size = int64(len(b.Data)) + b.Dropped
	}
	if r := x.Response; r != nil && r.Body.Size != capture.NotKnown && !r.Body.Decoded {
		if r.Stream {
			setEvents(r, r.Events)
		} else if r.Body.Data != nil {
			r.Body.Size = int64(len(r.Body.Data)) + r.Body.Dropped
		}
	}
}

// ownFields are header fields whose values are HTTP's and A2A's own words.
var ownFields = []string{
	"host", "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "accept",
	"accept-encoding", "a2a-version", "a2a-extensions", "x-a2a-extensions", "cache-control", "etag", "if-none-match",
	"last-modified", "date", "vary", "allow", "retry-after", "location", "last-event-id", "te", "grpc-status",
	"grpc-encoding", "grpc-accept-encoding", "grpc-timeout",
}

// neutralFields replaces the values of other header fields with neutral words.
func (j *judge) neutralFields() (kept []string) {
	for i, x := range j.now {
		heads := []func(*capture.Exchange) *[]byte{asked.head}
		if x.Response != nil {
			trailer := func(x *capture.Exchange) *[]byte { return &x.Response.Trailer }
			heads = append(heads, answered.head, trailer)
		}
		for of, head := range heads {
			for n, line := range headLines(*head(x)) {
				name, value, found := strings.Cut(string(line), ":")
				value = strings.TrimSpace(value)
				if n == 0 && of < 2 || !found || slices.Contains(ownFields, strings.ToLower(name)) || isNeutral(value) ||
					credential.HasPlaceholder([]byte(value)) {
					continue
				}
				neutral := j.word("value-")
				done := j.replace(i, func(x *capture.Exchange) {
					lines := headLines(*head(x))
					lines[n] = []byte(name + ": " + neutral + "\r\n")
					*head(x) = bytes.Join(lines, nil)
				})
				if !done {
					kept = append(kept, fmt.Sprintf("the header field %s of exchange %d", name, x.Seq))
				}
			}
		}
	}
	return kept
}
