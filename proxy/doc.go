// Package proxy puts a2atap between two agents: taps in front of agents, and a forward proxy for any agent.
//
// A [Tap] is one listening address and the agent behind it. It maps origin to origin, path unchanged. A [Proxy] holds
// the taps of one recording and its forward proxy, if there is one. It arranges what does the work:
//
//   - package listener opens addresses, and knows which hosts requests to them may name;
//   - package relay carries the bytes, and package outbound connects to agents;
//   - package recording makes steps of what passes, for the capture;
//   - packages card and webhook change the little that must be changed on the way;
//   - package forward is the way in for clients that name a2atap as their proxy;
//   - package injection makes faults in answers, on request.
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
// client get the webhook's URL. With [Options].Faults answers get faults, on request.
//
// # What will surprise
//
//   - An agent card is held until it is complete, up to 1 MiB, and so are requests and answers about push notification
//     configs where webhooks are led through the tap. Nothing else is.
//   - A card that names the same host with another port opens a further tap by itself ([Options].OnTap).
//   - A tap refuses an agent address that is a tap of the same Proxy: that would be a loop.
package proxy
