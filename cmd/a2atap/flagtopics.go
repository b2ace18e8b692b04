package main

import (
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/manual"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/shipment"
)

// readsStreams are the commands that also read what many recorders have shipped.
const readsStreams = "check,show,tui,web,replay,playback,diff,export,import,minimize"

// flagTopics returns the topics that explain flags, and list them in place of the commands that have them: a command's
// own help is to fit one screen.
func flagTopics() []manual.Topic {
	return []manual.Topic{
		{
			Name: "taps", Short: "Whom taps let in, and what they call clients", Text: tapsTopic,
			Flags: []string{"record,run: alias allow-host allow-remote client no-rewrite timeout-head"},
		},
		{
			Name: "forward", Short: "The forward proxy", Text: forwardTopic,
			Flags: []string{"all-traffic proxy-auth timeout-tunnel tunnel"},
		},
		{
			Name: "webhooks", Short: "How push notifications are observed and received", Text: webhooksTopic,
			Flags: []string{"record,run,send,probe,replay: webhook-* no-webhooks", "send,probe,replay: allow-remote"},
		},
		{
			Name: "reach", Short: "How agents are reached: TLS, certificates, proxies", Text: reachTopic,
			Flags: []string{"agent-ca ca client-cert client-key insecure upstream-proxy"},
		},
		{
			Name: "faults", Short: "Faults that are made, to see how a client bears them", Text: faultsTopic(),
			Flags: []string{"record,run: fault", "playback: break-after delay drop error"},
		},
		{
			Name: "storage", Short: "How much is recorded, and what if it cannot be", Text: storageTopic,
			Flags: []string{"if-capture-fails max-body segment-size"},
		},
		{
			Name: "secrets", Short: "How secrets are hidden in captures", Text: secretsTopic,
			Flags: []string{"keep-secrets redact redaction-key"},
		},
		{
			Name: "fleet", Short: "Captures of many machines", Text: fleetTopic,
			Flags: []string{"nats-*", "record,run,playback,probe: ship ship-*", readsStreams + ": host since"},
		},
		{
			Name: "otlp", Short: "Spans for OpenTelemetry", Text: otlpTopic,
			Flags: []string{"record,run: otlp otlp-*"},
		},
		{
			Name: "baseline", Short: "What a project accepts", Text: baselineTopic,
			Flags: []string{"baseline update-baseline"},
		},
		{
			Name: "compare", Short: "What may differ between two runs", Text: compareTopic,
			Flags: []string{"ignore learn-noise noise time-tolerance", "replay,diff: match"},
		},
		{
			Name: "matching", Short: "How playback finds the answer to a request", Text: matchingTopic,
			Flags: []string{"playback: match on-miss used-up"},
		},
		{
			Name: "credentials", Short: "How agents are told who asks", Text: credentialsTopic,
			Flags: []string{"send,probe,replay: auth auth2 credentials-to oauth-* second-auth"},
		},
		{
			Name: "requests", Short: "What is sent to an agent, and to which of its interfaces", Text: requestsTopic,
			Flags: []string{
				"send,probe: header no-card protocol protocol-version tenant var",
				"replay: binding dialect",
				"send: configuration context follow-card message message-id stable-id task",
			},
		},
		{
			Name: "tasks", Short: "How a client follows its tasks", Text: tasksTopic,
			Flags: []string{"send: cancel get history-length list no-poll poll-interval poll-timeout subscribe"},
		},
		{
			Name: "limits", Short: "How much an agent may answer", Text: limitsTopic,
			Flags: []string{"send,probe,replay: max-answer max-events max-idle max-pages max-skills"},
		},
		{
			Name: "scenarios", Short: "What probe asks, and what it sends for that", Text: scenariosTopic,
			Flags: []string{
				"probe: binding client-timeout dialect drive parallel profile-from prompt skill spec-patch suite verbose",
			},
		},
		{
			Name: "agents", Short: "Reference agents with a card and skills of one's own", Text: agentsTopic,
			Flags: []string{"agent: binding card max-tasks skill store tenant"},
		},
	}
}

const tapsTopic = `A tap admits requests for a loopback name or address, the address that it listens on, or the agent itself, so that no
web page can reach the agent through it. Clients that reach it by another name, such as those in containers, get 421
until that name is given with --allow-host.

A client has the name that --client gives it. Otherwise a client on this machine whose process listens at the address of
exactly one of the tapped agents is that agent (Linux and macOS), and any other is named by its User-Agent; --client
tells apart clients that have the same one. Clients of the forward proxy can name themselves (http://NAME@HOST:PORT).

  a2atap record --agent booker=http://127.0.0.1:9001 --client '*httpx*=planner' --client addr:10.1.0.0/16=tests
  a2atap record --agent booker=http://127.0.0.1:9001@0.0.0.0:7001 --allow-remote --allow-host booker
`

const forwardTopic = recorder.ForwardHelp + `

  a2atap record --forward 7080 --tunnel idp.example
  a2atap run --proxy-auth env:PROXY_AUTH -- python planner.py
`

const reachTopic = recorder.ReachHelp + `

  a2atap record --agent booker=https://booker.example/a2a --agent-ca corporate.pem
  a2atap probe https://booker.example/a2a --upstream-proxy env --client-cert me.pem
`

const webhooksTopic = recorder.WebhookHelp + `

Where probe, replay or send asks for notifications, it receives them itself, on loopback. An agent on another machine
needs an address that it can reach (--webhook-url, --webhook-listen), and one that insists on https needs a certificate
that it trusts (--webhook-tls, --webhook-cert).

  a2atap record --agent booker=https://booker.example/a2a --webhook-url https://tunnel.example
  a2atap send https://booker.example/a2a 'two seats' --push --webhook-url https://hooks.example
`

func faultsTopic() string {
	return recorder.FaultHelp() + `

  a2atap record --agent booker=http://127.0.0.1:9001 --fault booker:cut-stream=2@SendStreamingMessage#1
  a2atap record --agent booker=http://127.0.0.1:9001 --fault '*:delay=2s' --fault booker:status=503@GetTask

Of playback, --delay, --error, --drop and --break-after make faults. OP is an operation by its name in any version, such
as SendMessage or message/send, or * for all; @WHICH of its requests is @2, @2..4, @2.. or @..3. They are listed at the
start, counted in the verdict, and noted in what --capture records. They do not change the exit status: a request that
gets an error or no answer because of a flag counts as received, and not as unmatched.

  a2atap playback c.a2atap --listen 127.0.0.1:9001 --delay GetTask=2s --error SendMessage=503@1 --break-after 3
`
}

const storageTopic = `The traffic goes first: a full queue, a full disk or a slow one costs parts of the recording, which says so, and never
delays what passes. --if-capture-fails chooses otherwise. What --max-body leaves out is counted, and rules that needed it
stay silent.

  a2atap record --agent booker=http://127.0.0.1:9001 --segment-size 1GiB --max-body 1MiB -o c.a2atap
`

const secretsTopic = `Credentials are replaced by placeholders before anything is stored, and a placeholder is the same where the secret is: one
still sees who came with the same credentials. The key for that is the user's own, and is never in the capture; a team
that compares its captures shares one with --redaction-key. --redact hides more, and --keep-secrets hides nothing, which
the capture says. docs/security.md has what is taken for a secret.

  a2atap record --agent booker=http://127.0.0.1:9001 --redact header:X-Customer --redact /params/metadata/customer
  a2atap record --agent booker=http://127.0.0.1:9001 --redaction-key env:REDACTION_KEY
`

const fleetTopic = shipment.Help + ` What has been shipped is a capture: nats://HOST:4222/NAME, for every
command that reads one. --host and --since choose from it, and a2atap hosts lists its recorders.

` + cli.NATSHelp + `

  a2atap record --agent booker=http://127.0.0.1:9001 --ship nats://127.0.0.1:4222/traffic
  a2atap hosts nats://127.0.0.1:4222/traffic
  a2atap check nats://127.0.0.1:4222/traffic --host booker-1 --since 90m
`

const otlpTopic = `With --otlp a span for each exchange and each task goes to an OpenTelemetry collector when it has ended, with findings as
events, in the trace that the request names. A collector that is away or slow delays nothing. Spans hold no bodies,
headers or queries; --otlp-bodies adds the bodies. a2atap export --format otlp makes the same spans of a capture.

  a2atap record --agent http://127.0.0.1:9001 --otlp http://127.0.0.1:4318
  a2atap export c.a2atap --format otlp -o spans.otlp
`

const baselineTopic = `Findings, failed calls, failed tasks and failed tests that a project accepts are kept in a baseline, the same file for
check, probe and replay. --baseline FILE --update-baseline accepts the current ones; from then on --baseline FILE counts
them, fails for what is new only, and names those that no longer occur.

  a2atap check c.a2atap --baseline known.json --update-baseline
  a2atap check c.a2atap --baseline known.json

A link fails only if one of its failed calls or tasks is not accepted; accepted ones are alike in client, agent,
operation, binding, error and its text without numbers. An entry may have a "reason", and with "until": "2027-01-31" a
last day.

Entries of tests, such as {"test": "rest/error-*", "reason": "fixed in 2.0", "until": "2027-01-31"}, can also be written
by hand: test is a test's name or id, with * for any text but /. Such a failure stays in the report of probe, with its
reason, and does not fail the run. It still lowers the conformance level.
`

const compareTopic = `Answers are compared by meaning, and --profile says how far that goes. --ignore, --match and --noise say what may differ
beyond it; none of them hides an outcome, nor a state or an error that it does not name itself. replay --learn-noise
plays twice, and writes down what an agent never says twice in the same way.

  a2atap diff c.a2atap c.a2atap --ignore GetTask:/metadata/took
  a2atap replay c.a2atap --to http://127.0.0.1:9001 --noise noise.txt
`

const matchingTopic = `Requests are matched by operation, task, context and kinds of parts, in any binding, then by what was requested before.
--match shape also asks for the same names and types of parameters, exact for the same values, and --match
/message/parts/0/text for the value there. Repeated requests get the recorded answers in order, then the last one again
(with --used-up error, an error). With --on-miss forward=URL a live agent answers a request without a match, and with
--capture that is recorded.

  a2atap playback c.a2atap --listen 127.0.0.1:9001 --match exact --on-miss forward=http://127.0.0.1:9002/spec
`

const credentialsTopic = `A recording contains no secrets: replay sends what --auth and --oauth-… give where the recording has placeholders, and
with NAME= before it only to the agent NAME. send and probe send it with every request. Of two agents that are probed,
both get the same credentials, unless --auth2 gives those of the second; --second-auth is another user of one agent.
Credentials go to scheme, host and port of the agent's URL alone, and to those of --credentials-to. They are never
printed: … stands in their place, also in what the agent answers.

  a2atap send https://booker.example/a2a 'two seats' --auth bearer:env:TOKEN
  a2atap send https://booker.example/a2a 'two seats' --oauth-client-id cli --oauth-client-secret @secret
  a2atap replay c.a2atap --to booker=https://b.example --to hotel=https://h.example --auth booker=bearer:env:B
  a2atap probe booker=https://b.example hotel=https://h.example --auth bearer:env:B --auth2 apikey:env:H
`

const requestsTopic = `Which interface of an agent is spoken to, its card says; --protocol and --protocol-version choose another, and --no-card
does without a card.

--message and --configuration are merged into what is sent (as a JSON merge patch), in the words of the protocol that is
spoken. In their strings {{prompt}} is TEXT; --var gives other variables.

  a2atap send http://127.0.0.1:7001/spec 'two seats' --message '{"metadata":{"run":"{{run}}"}}' --var run=7
  a2atap send http://127.0.0.1:7001/spec 'two seats' --context trip-1 --protocol 1.0-rest

replay --binding and --dialect translate the recorded requests. What cannot be said there is left out and named. Answers
are then compared by what they mean: in another dialect, names in JSON, media types and HTTP statuses are not compared.

  a2atap replay c.a2atap --to http://127.0.0.1:9001/spec --dialect 1.0 --binding http+json
`

const tasksTopic = `A task that is not complete at once is polled until it has ended or waits for its client; a stream that is cut before
that is polled too. With --get, --list, --cancel or --subscribe, send asks about tasks instead.

  a2atap send http://127.0.0.1:7001/spec --get 0b5e7e6e-7c1c-4b0e-9f3f-2f6f0a4b9c1d
  a2atap send http://127.0.0.1:7001/spec --list --history-length 1
`

const limitsTopic = `An agent cannot cost send, probe or replay more than a bounded amount of time and memory. A call that reaches a limit ends
with a message that names the limit and its flag, and counts as failed. The defaults are far above what agents send.
--timeout bounds the wait for an answer that is not a stream, its body included.

  a2atap send http://127.0.0.1:7001/spec 'streaming tell me more' --max-idle 4h --max-events 1000000
`

const scenariosTopic = `probe asks all scenarios that are for the agent, over each interface that its card offers; --only and --skip choose by id,
name, tag or agent, as --list names them. A scenario passes or fails; it is skipped if it is not for this agent, such as
one about streams for an agent without them; it is inconclusive if the agent's answer does not show what it is about. An
agent that no longer answers is critical.

An agent with the skills of the reference agents is told what to do by their keywords, any other is sent the examples of
its card (--drive, --skill), the texts of --prompt, or what --profile-from finds in a capture.

With --client a client is tested: probe plays agents, each with another behaviour or fault, and starts the command
behind -- for each. {url}, {text} and {mode} in it stand for the address of the agent, what to send, and send or stream;
they are in the variables A2ATAP_URL, A2ATAP_TEXT and A2ATAP_MODE, too. Without a command the addresses are printed, and
an interrupt ends it. The report has what a client should do, and whether it did, and what rules found of its requests.

  a2atap probe http://127.0.0.1:9001 --only errors --skip 'rest/*'
  a2atap probe http://127.0.0.1:9001 --prompt 'task-cancel=count to a million' --binding jsonrpc
  a2atap probe --client -- python my_client.py {url} {text}
`

const agentsTopic = `With --card the agent serves the card in a file. Its skills are what the agent does: each acts as the agent's own skill
of the same id, or of the first tag that is such an id, or else as task-lifecycle. A message that begins with the id or
name of a skill asks for it. Its capabilities are what the agent offers; streaming can be left out, push notifications
need --push, and what the card says about credentials must be what --auth asks for. The agent writes its own address
into the card. A card that is not of the agent's dialect, or promises what the agent does not do, is refused.

With --skill ID=PROGRAM a program does what a skill of that card does. It is started for each message, reads what it is
asked as a line of JSON, and writes a line for each state and each artifact (docs/agents.md).

With --binding the agent serves only these bindings. echo, spec and spec03… serve gRPC, too, on the same port: over
HTTP/2 without TLS, as the card then says with host and port.

With --tenant the agent serves only requests for these tenants: the card has interfaces for each, JSON-RPC names one in
the member tenant, and HTTP+JSON names it there, in the query, or before the path (/spec/NAME/tasks).

With --store tasks are kept in a file. When the agent is started again, finished ones can be read, those that wait for
their client go on, and those that it was working on have failed and say so. Only one process at a time can use the
file. It contains the credentials of webhooks, so only its owner can read it.

  a2atap agent legacy --card travel.json --push
  a2atap agent spec --store tasks.db --listen 127.0.0.1:9001
  a2atap agent spec --binding grpc --binding jsonrpc --listen 127.0.0.1:9001
`
