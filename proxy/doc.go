// Package proxy puts a2atap between two agents: taps in front of agents, and a forward proxy for any agent.
//
// A [Tap] is one listening address and the agent behind it. It maps origin to origin, with the path unmodified. A
// [Proxy] holds the taps of one recording and its optional forward proxy. Other packages do the work:
//
//   - package listener opens addresses, and knows which hosts requests to them may name;
//   - packages relay and relay/h2 carry the bytes, and package outbound connects to agents;
//   - package recording makes steps of what passes, for the capture;
//   - packages card and webhook change the little that must be changed on the way;
//   - package forward serves clients that name a2atap as their proxy;
//   - package injection makes faults in answers, on request, and package hold stops messages that the user wants to see.
//
// To record traffic between two agents, package record combines a proxy with everything behind it:
//
//	planner, err := proxy.ParseTap("planner=http://127.0.0.1:9001")
//	booker, err := proxy.ParseTap("booker=http://127.0.0.1:9002")
//	memory := capture.NewMemory(capture.Info{Name: "test"})
//	r := record.New(memory, record.Options{Proxy: proxy.Options{Taps: []proxy.TapSpec{planner, booker}}})
//	err = r.Start()
//	… // each agent calls the other at the URL of its tap, r.Taps()[1].URL()
//	err = r.Close(ctx)
//
// # What it promises
//
// Recording is never in the path of the traffic. The relay hands copies to a queue that is bounded in bytes, and one
// goroutine makes steps of them for the capture. When the capture cannot keep up or fails, traffic passes unrecorded
// and the record says how much, unless the user chose otherwise ([Policy]).
//
// A tap changes only the value of Host and, unless [Options].NoRewrite is set, the agent card: a client that reads the
// card through a tap must come back through a tap. In the card, the tap replaces the string tokens of the URLs of known
// agents; every other byte stays. With [Options].Webhooks, it also replaces the URLs of webhooks in push notification
// configs: the tap records what agents send there, and forwards it. The record keeps what the client and the agent
// sent, and also each replacement. If an agent's answer contains such an address, the record and the client get the
// webhook's URL. With [Options].Faults, answers get faults, on request; with [Options].Hold, the user holds messages,
// and may edit them.
//
// # Who calls
//
// The name of a client is the user part of the forward proxy's URL; else the result of the user's patterns; else the
// agent that owns its process (package process); else the first product of its User-Agent; else "client". The record
// has the source of the name.
//
// The proxy looks for the process when it accepts a connection from this machine, outside the path of the traffic and
// for all waiting connections at once. It does not look if there is only one agent, since no other agent could call it.
// Only the recording goroutine waits for the name before it opens an exchange, never the traffic. It waits for 100 ms
// from when the connection was accepted, and not while much waits behind it. So the order of the record stays the order
// of the traffic. A name that is found later is stored as a fact of the exchanges that are open then.
//
// # Webhooks
//
// A notification goes from the agent to the client's webhook, and no tap is on that path. So the tap replaces the URL
// in a push notification config with an address of its own. The address contains the URL, encrypted and authenticated
// with a key derived from the redaction key, so a restarted recorder still knows it. The same relay forwards requests
// to that address to the webhook, with the webhook's path, query and Host. They are recorded as they would have been
// sent without a tap, as exchanges from the agent to the client that configured the webhook. In answers, the addresses
// become the client's URLs again.
//
// # What will surprise
//
//   - An agent card is held until it is complete, up to 1 MiB, and so are requests and answers about push notification
//     configs if the tap forwards webhooks ([Options].Webhooks). At paths that do not tell, JSON that answers a GET is
//     held for half a second at most, and released as soon as it proves not to be a card. Otherwise, only what the user
//     holds is held ([Options].Hold).
//   - A card that names the same host with another port opens a further tap by itself ([Options].OnTap).
//   - A tap refuses an agent address that is a tap of the same Proxy: that would be a loop.
package proxy
