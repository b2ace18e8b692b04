package relay

import (
	"bytes"

	"a2atap/proxy/hostname"
)

// A destination is the target of the request being read.
type destination struct {
	Target
	authority string // as it is written in the request
	rest      string // what follows it
	at        int    // the target's offset in the head
	length    int    // of the target
}

// route finds out where a request of a forward proxy's client goes.
func (r *requests) route(head []byte) (err error) {
	line, _ := firstLine(head)
	method, rest, _ := bytes.Cut(line, space)
	target := rest[:bytes.LastIndexByte(rest, ' ')]
	d := destination{at: bytes.Index(head, line) + len(method) + 1, length: len(target)}
	if d.Target, d.authority, d.rest, err = ParseTarget(string(target)); err != nil {
		return err
	}
	if admit := r.cfg.Forward.Admit; admit != nil && !admit(head) {
		return errProxyCredentials
	}
	switch {
	case d.rest == "" && string(method) == "OPTIONS":
		d.rest = "*" // RFC 9112 section 3.2.4
	case d.rest == "" || d.rest[0] == '?':
		d.rest = "/" + d.rest
	}
	r.to = d
	return nil
}

// closeAgent closes the connection to an agent, after all pending answers, when the next request goes to another agent.
// It is called before that request begins, so that late data from the old agent cannot be taken for its answer.
func (r *requests) closeAgent() {
	r.mu.Lock()
	agent := r.agent
	if agent == nil || r.at == r.to.Target {
		r.at = r.to.Target
		r.mu.Unlock()
		return
	}
	for (len(r.unfinished) > 0 || r.agentEnds) && !r.answersEnd {
		r.decided.Wait()
	}
	if r.answersEnd { // then this request gets no answer either
		r.mu.Unlock()
		return
	}
	r.agent, r.at = nil, r.to.Target
	r.mu.Unlock()
	agent.Close()
	r.reader.Wait()
}

// replaced reports whether the client has switched to another agent. The lock is held.
func (a *answers) replaced() bool { return a.pair.agent != a.agent }

// appendForwarded appends a head to out as the agent is to see it.
func (d *destination) appendForwarded(out, head []byte, h *requestHead) []byte {
	out = append(out, head[:d.at]...)
	out = append(out, d.rest...)
	host := head[h.hostStart:h.hostTo]
	for from := d.at + d.length; from < len(head); {
		to := from + bytes.IndexByte(head[from:], '\n') + 1 // a head is whole and ends with a blank line
		line := head[from:to]
		switch {
		case bytes.HasPrefix(bytes.ToLower(line[:min(len(line), len("proxy-"))]), []byte("proxy-")):
		case h.hasHost && from <= h.hostStart && h.hostTo <= to && !d.isNamed(string(host)):
			out = append(out, head[from:h.hostStart]...)
			out = append(out, d.authority...)
			out = append(out, head[h.hostTo:to]...)
		default:
			out = append(out, line...)
		}
		from = to
	}
	return out
}

// isNamed reports whether the value of Host names the target.
func (d *destination) isNamed(host string) bool {
	name, port, err := splitAuthority(host)
	if port == "" {
		port = defaultPorts[d.Scheme]
	}
	return err == nil && hostname.Normal(name) == hostname.Normal(d.Host) && port == d.Port
}
