// Package proxy puts a2atap between two agents: taps in front of agents, and a forward proxy for any agent.
//
// A [Tap] is one listening address and the agent behind it. It maps origin to origin, path unchanged. A [Proxy] holds
// the taps of one recording and its forward proxy, if there is one. It arranges what does the work:
//
//   - package listener opens addresses, and knows which hosts requests to them may name;
//   - packages relay and relay/h2 carry the bytes, and package outbound connects to agents;
//   - package recording makes steps of what passes, for the capture;
//   - packages card and webhook change the little that must be changed on the way;
//   - package forward is the way in for clients that name a2atap as their proxy;
//   - package injection makes faults in answers, on request, and package hold stops messages that the user wants to see.
//
// To record what passes between two agents, package record puts a proxy together with all that stands behind it:
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
// The only bytes that a tap changes are the value of Host and, unless [Options].NoRewrite is set, the agent card: a
// client that reads the card through a tap must come back through a tap. There the string tokens of the URLs of known
// agents are replaced and every other byte stays. With [Options].Webhooks so are the URLs of webhooks in push
// notification configs: what agents send there comes to the tap, is recorded, and goes on. The record keeps what the
// client and the agent sent, and beside it each replacement; where an agent names such an address, the record and the
// client get the webhook's URL. With [Options].Faults answers get faults, on request; with [Options].Hold the user
// holds messages, and may edit them.
//
// # Who calls
//
// The name of a client is the user part of the forward proxy's URL; else what the user's patterns say; else the agent
// that its process is (package process); else the first product of its User-Agent; else "client". The record says which.
//
// The process is looked for when a connection from this machine is accepted, off its path and for all connections that
// wait at once, unless there is only one agent: nobody else could call it. The recording goroutine, and never the
// traffic, waits for the name before it opens an exchange: for 100 ms from when the connection was accepted, and not
// while much waits behind it. So the order of the record stays that of the traffic. A name that is found later is stored
// as a fact of the exchanges that are open then.
//
// # Webhooks
//
// A notification goes from the agent to the client's webhook, and no tap is on that way. So the URL in a push
// notification config is replaced by an address of the agent's own tap. The address has the URL in it, encrypted and
// authenticated with a key that is made of the redaction key: a recorder that is started again still knows it. What
// comes there is forwarded by the same relay to the webhook, with the webhook's path, query and Host, and recorded as it
// would have been sent without a tap, as an exchange from the agent to the client that configured it. In answers the
// addresses become the client's URLs again.
//
// # What will surprise
//
//   - An agent card is held until it is complete, up to 1 MiB, and so are requests and answers about push notification
//     configs where webhooks are led through the tap ([Options].Webhooks). At paths that do not tell, JSON that answers a
//     GET is held for half a second at most, and let go as soon as it proves not to be a card. Nothing else is held, but
//     what the user holds ([Options].Hold).
//   - A card that names the same host with another port opens a further tap by itself ([Options].OnTap).
//   - A tap refuses an agent address that is a tap of the same Proxy: that would be a loop.
package proxy
