package analysis

import (
	"cmp"
	"strings"

	"a2atap/proxy/a2a"
)

// A Link is a pair of programs: Client sends HTTP requests to Agent. On a notification the Client is the agent of the
// protocol, and the Agent its receiver: see Programs.
type Link struct{ Client, Agent string }

// String returns the link as machine output writes it: client->agent.
func (l Link) String() string { return l.Client + "->" + l.Agent }

// Compare orders links by their clients, then by their agents.
func (l Link) Compare(m Link) int {
	return cmp.Or(strings.Compare(l.Client, m.Client), strings.Compare(l.Agent, m.Agent))
}

// Programs names the programs of an exchange by their roles in the protocol. A call goes from a client to an agent. A
// notification goes from an agent to a receiver.
type Programs struct {
	Client   string // asks the agent to work; on a notification the receiver, which is named after that client
	Agent    string // works on the task; on a notification the sender
	Receiver string // receives a notification; empty on a call
}

// Programs returns the role of each program in an exchange of the link, by the operation of the exchange. Reports,
// filters and tables that name an agent, a client or a receiver call this method: the link itself knows only which
// program sent the HTTP request.
func (l Link) Programs(op a2a.Operation) Programs {
	if op == a2a.Webhook {
		return Programs{Client: l.Agent, Agent: l.Client, Receiver: l.Agent}
	}
	return Programs{Client: l.Client, Agent: l.Agent}
}

// Of returns the program on a side; empty if the exchange has no program there.
func (p Programs) Of(side a2a.Side) string {
	switch side {
	case a2a.Client:
		return p.Client
	case a2a.Agent:
		return p.Agent
	case a2a.Receiver:
		return p.Receiver
	}
	return ""
}
