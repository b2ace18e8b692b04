package main

import (
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/manual"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/shipment"
)

// readsStreams are the commands that can also read the stream of a fleet.
const readsStreams = "check,show,tui,web,replay,playback,diff,export,import,minimize"

// flagTopics returns the topics that explain flags. The topics list these flags instead of the commands, whose help
// should fit on one screen.
func flagTopics() []manual.Topic {
	return []manual.Topic{
		{
			Name: "taps", Short: "Which clients a tap admits, and how it names them", Text: tapsTopic,
			Flags: []string{"record,run: alias allow-host allow-remote client no-rewrite timeout-head"},
		},
		{
			Name: "forward", Short: "The forward proxy", Text: forwardTopic,
			Flags: []string{"all-traffic only-a2a name proxy-auth timeout-tunnel tunnel"},
		},
		{
			Name: "webhooks", Short: "Observing and receiving push notifications", Text: webhooksTopic,
			Flags: []string{"record,run,send,probe,replay: webhook-* no-webhooks", "send,probe,replay: allow-remote"},
		},
		{
			Name: "reach", Short: "Reaching agents: TLS, certificates, proxies", Text: reachTopic,
			Flags: []string{"agent-ca ca client-cert client-key insecure upstream-proxy"},
		},
		{
			Name: "faults", Short: "Injecting faults to test how a client handles them", Text: faultsTopic(),
			Flags: []string{"record,run: fault", "playback: break-after delay drop error"},
		},
		{
			Name: "storage", Short: "How much is recorded, and what happens if recording fails", Text: storageTopic,
			Flags: []string{"if-capture-fails max-body segment-size"},
		},
		{
			Name: "secrets", Short: "Hiding secrets in captures", Text: secretsTopic,
			Flags: []string{"keep-secrets redact redaction-key"},
		},
		{
			Name: "fleet", Short: "Captures from many machines", Text: fleetTopic,
			Flags: []string{"nats-*", "record,run,playback,probe: ship ship-*", readsStreams + ": host since"},
		},
		{
			Name: "otlp", Short: "OpenTelemetry spans", Text: otlpTopic,
			Flags: []string{"record,run: otlp otlp-*"},
		},
		{
			Name: "baseline", Short: "Accepting known findings and failures", Text: baselineTopic,
			Flags: []string{"baseline update-baseline"},
		},
		{
			Name: "compare", Short: "Which differences between two runs are allowed", Text: compareTopic,
			Flags: []string{"learn-noise noise time-tolerance", "replay,diff: ignore match"},
		},
		{
			Name: "matching", Short: "How playback matches requests to recorded answers", Text: matchingTopic,
			Flags: []string{"playback: ignore match on-miss used-up"},
		},
		{
			Name: "offline", Short: "Running a program from its recording", Text: offlineTopic,
			Flags: []string{"playback: allow-unused answer format live live-from no-base-urls require-isolated serve set", "replay: play"},
		},
		{
			Name: "credentials", Short: "Credentials for agents", Text: credentialsTopic,
			Flags: []string{"send,probe,replay: auth auth2 credentials-to oauth-* second-auth"},
		},
		{
			Name: "requests", Short: "Requests to an agent, and the interface they use", Text: requestsTopic,
			Flags: []string{
				"send,probe: header no-card protocol protocol-version tenant var",
				"replay: binding dialect",
				"send: configuration context follow-card message message-id stable-id task",
			},
		},
		{
			Name: "tasks", Short: "Following tasks as a client", Text: tasksTopic,
			Flags: []string{"send: cancel get history-length list no-poll poll-interval poll-timeout subscribe"},
		},
		{
			Name: "limits", Short: "Limits on an agent's answers", Text: limitsTopic,
			Flags: []string{"send,probe,replay: max-answer max-events max-idle max-pages max-skills"},
		},
		{
			Name: "scenarios", Short: "The scenarios of probe, and the messages they send", Text: scenariosTopic,
			Flags: []string{
				"probe: binding client-timeout dialect drive parallel profile-from prompt skill spec-patch suite verbose",
			},
		},
		{
			Name: "agents", Short: "Reference agents with your own card and skills", Text: agentsTopic,
			Flags: []string{"agent: binding card max-tasks skill store tenant"},
		},
	}
}

const tapsTopic = `A tap admits requests for a loopback name or address, for its listening address, or for the agent
itself, so that a web page cannot reach the agent through it. Clients that use another name, for example from a
container, get status 421 unless --allow-host names it.

--client names clients. Without it, a client on this machine whose process listens at the address of exactly one tapped
agent is identified as that agent (Linux and macOS), and any other client is named by its User-Agent; use --client to
distinguish clients with the same User-Agent. Clients of the forward proxy can name themselves (http://NAME@HOST:PORT).

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

When probe, replay or send request notifications, they also receive them, on loopback. An agent on another machine needs
an address that it can reach (--webhook-url, --webhook-listen). An agent that requires https needs a certificate that it
trusts (--webhook-tls, --webhook-cert).

  a2atap record --agent booker=https://booker.example/a2a --webhook-url https://tunnel.example
  a2atap send https://booker.example/a2a 'two seats' --push --webhook-url https://hooks.example
`

func faultsTopic() string {
	return recorder.FaultHelp() + `

  a2atap record --agent booker=http://127.0.0.1:9001 --fault booker:cut-stream=2@SendStreamingMessage#1
  a2atap record --agent booker=http://127.0.0.1:9001 --fault '*:delay=2s' --fault booker:status=503@GetTask

In playback, --delay, --error, --drop and --break-after inject faults. OP is the name of an operation in any version,
such as SendMessage or message/send, or * for all; @WHICH selects requests: @2, @2..4, @2.. or @..3. The faults are
listed at the start, counted in the verdict, and noted in the recording of --capture. They do not change the exit
status: a request that gets an error or no answer because of a flag counts as received, not as unmatched.

  a2atap playback c.a2atap --listen 127.0.0.1:9001 --delay GetTask=2s --error SendMessage=503@1 --break-after 3
`
}

const storageTopic = `Forwarding has priority: with a full queue, a full disk or a slow disk, parts of the recording are
lost, and the capture counts them, but traffic is never delayed. --if-capture-fails changes this. Data beyond --max-body is
counted, and rules that need it report nothing.

  a2atap record --agent booker=http://127.0.0.1:9001 --segment-size 1GiB --max-body 1MiB -o c.a2atap
`

const secretsTopic = `Credentials are replaced by placeholders before anything is stored. The same secret always gets
the same placeholder, so you can still see which clients used the same credentials. Placeholders are made with a key
that belongs to the user and is never in the capture; a team that compares captures shares a key with --redaction-key.
--redact hides more values. --keep-secrets hides nothing; the capture has a note about it. docs/security.md lists what counts as
a secret.

  a2atap record --agent booker=http://127.0.0.1:9001 --redact header:X-Customer --redact /params/metadata/customer
  a2atap record --agent booker=http://127.0.0.1:9001 --redaction-key env:REDACTION_KEY
`

const fleetTopic = shipment.Help + ` Shipped traffic can be read as a capture, nats://HOST:4222/NAME, by every command
that reads one. --host and --since select from it, and a2atap hosts lists its recorders.

` + cli.NATSHelp + `

  a2atap record --agent booker=http://127.0.0.1:9001 --ship nats://127.0.0.1:4222/traffic
  a2atap hosts nats://127.0.0.1:4222/traffic
  a2atap check nats://127.0.0.1:4222/traffic --host booker-1 --since 90m
`

const otlpTopic = `With --otlp, a span for each exchange and each task is sent to an OpenTelemetry collector when it has
ended, with findings as events, in the trace that the request names. A slow or unreachable collector delays nothing.
Spans have no bodies, headers or queries; --otlp-bodies adds the bodies. a2atap export --format otlp creates the same
spans from a capture.

  a2atap record --agent http://127.0.0.1:9001 --otlp http://127.0.0.1:4318
  a2atap export c.a2atap --format otlp -o spans.otlp
`

const baselineTopic = `A baseline lists the findings, failed calls, failed tasks and failed tests that a project
accepts. check, probe and replay share the file. --baseline FILE --update-baseline accepts the current ones. From then
on, --baseline FILE counts accepted entries, fails only for new ones, and lists entries that no longer occur.

  a2atap check c.a2atap --baseline known.json --update-baseline
  a2atap check c.a2atap --baseline known.json

A link fails only if one of its failed calls or tasks is not accepted. An entry matches by client, agent, operation,
binding, error and the error's text without numbers. An entry may have a "reason", and an expiry date such as "until":
"2027-01-31".

You can also write entries for tests by hand, such as {"test": "rest/error-*", "reason": "fixed in 2.0", "until":
"2027-01-31"}: test is a test's name or id, with * for any text except /. Such a failure stays in the report of probe,
with its reason, and does not fail the run. It still lowers the conformance level.
`

const compareTopic = `Answers are compared by meaning; --profile sets how strictly. --ignore, --match and --noise allow
further differences. They never hide an outcome, or a state or an error that they do not name. replay --learn-noise
plays the capture twice and writes rules for values that change from run to run.

  a2atap diff c.a2atap c.a2atap --ignore GetTask:/metadata/took
  a2atap replay c.a2atap --to http://127.0.0.1:9001 --noise noise.txt
`

const matchingTopic = `Requests are matched by operation, task, context and kinds of parts, in any binding, then by the
requests before them. --match shape also compares the names and types of parameters, --match exact their values, and
--match /message/parts/0/text the value at that place. Repeated requests get the recorded answers in order, then the
last one again (with --used-up error, an error). With --on-miss forward=URL a live agent answers requests without a
match, and --capture records its answers.

Requests to models, tools and other services must be the recorded ones: method, path, query and the whole body, with
members of objects in any order and numbers by value. Header fields, credentials, and ids of JSON-RPC requests do not
count; a recorded 401 or 403 answers only the credentials that were refused. These may differ: UUIDs, dates and times with
seconds (except in names of models and versions), temporary folders, ports of this machine, hidden secrets, what --ignore
PATTERN matches (a regular expression), and the order of the results of one turn's tool calls. Equal requests get their
answers in order, and one more than recorded is a miss (with --used-up repeat, the last answer). If a program is started,
the values of parameters count for agents, too. A miss is answered with 422 in the vendor's error format, and its first
differences are printed.

  a2atap playback c.a2atap --listen 127.0.0.1:9001 --match exact --on-miss forward=http://127.0.0.1:9002/spec
  a2atap playback c.a2atap --ignore 'took [0-9]+ ms' -- python planner.py
`

const offlineTopic = `playback CAPTURE -- CMD starts a program as run does, and answers every call of the program from the
capture: of models, MCP servers over HTTP, tools that a2atap stdio would run, agents, and other services. What is not in
the capture is refused with an error that says what differs from the nearest recorded request (help matching). With
--live NAMES the program reaches these services itself; with --serve NAMES it reaches all others. If the program was
recorded with --no-base-urls, play it with that flag, too.

The last line counts what was answered (exactly, by meaning, again), missed, never asked for, and live. Exit status: the
program's, if it is not 0; 1 if a request was missed, or a playable call never asked for (--allow-unused permits that); 4
if nothing was answered; otherwise 0. -o FILE writes a report, in the format of --format or of the name's ending.

--answer N=FILE plays an edited answer instead of the recorded one of exchange N: a body, or a status line, header fields
and a body. So you test how the program handles errors. --live-from N asks the real services once everything before
exchange N was requested; --set MEMBER=VALUE changes those requests, and -o NEW.a2atap records the run.

Connections past the proxy are not played. On Linux, they are listed, and --require-isolated exits with 4 if one was seen.
Files and clocks are the program's own. Services that were on this machine are also played at their recorded addresses,
if these are free. For other programs that ignore the proxy, add --listen NAME=ADDR.

replay --play NAME,... tests an agent that is a server: replay sends its users' requests, and what the agent asks of the
named services is answered from the capture, and compared. Services that were not on this machine need NAME=ADDR.

  a2atap run -o c.a2atap -- python planner.py
  a2atap playback c.a2atap -- python planner.py
  a2atap replay c.a2atap --to planner=http://127.0.0.1:9001 --play llm=127.0.0.1:9002,booker
  a2atap playback c.a2atap --speed max --live booker -- ./planner
  a2atap playback c.a2atap --speed max -o report.xml -- pytest
  a2atap playback c.a2atap --allow-unused --answer 12=refusal.json -- python planner.py
  a2atap playback c.a2atap --live-from 12 --set model=gpt-y -o what-if.a2atap -- python planner.py
`

const credentialsTopic = `A recording contains no secrets: replay sends the credentials from --auth and --oauth-…
instead of the recorded placeholders; with NAME= in front they go only to the agent NAME. send and probe send them with
every request. If two agents are probed, both get the same credentials, unless --auth2 gives the second agent's;
--second-auth is another user of one agent. Credentials are sent only to the scheme, host and port of the agent's URL,
and to those of --credentials-to. They are never printed, not even if they are in the agent's answer: … replaces them.

  a2atap send https://booker.example/a2a 'two seats' --auth bearer:env:TOKEN
  a2atap send https://booker.example/a2a 'two seats' --oauth-client-id cli --oauth-client-secret @secret
  a2atap replay c.a2atap --to booker=https://b.example --to hotel=https://h.example --auth booker=bearer:env:B
  a2atap probe booker=https://b.example hotel=https://h.example --auth bearer:env:B --auth2 apikey:env:H
`

const requestsTopic = `The card decides which interface of an agent is used; --protocol and --protocol-version choose
another, and --no-card works without a card.

--message and --configuration are merged into the request (as a JSON merge patch), with the member names of the protocol
in use. In their strings {{prompt}} is TEXT; --var sets other variables.

  a2atap send http://127.0.0.1:7001/spec 'two seats' --message '{"metadata":{"run":"{{run}}"}}' --var run=7
  a2atap send http://127.0.0.1:7001/spec 'two seats' --context trip-1 --protocol 1.0-rest

replay --binding and --dialect translate the recorded requests. Anything that has no equivalent is left out and
reported. Answers are then compared by meaning: in another dialect, JSON names, media types and HTTP statuses are not
compared.

  a2atap replay c.a2atap --to http://127.0.0.1:9001/spec --dialect 1.0 --binding http+json
`

const tasksTopic = `A task that is not complete at once is polled until it has ended or waits for its client, even if
its stream is cut. With --get, --list, --cancel or --subscribe, send asks about tasks instead.

  a2atap send http://127.0.0.1:7001/spec --get 0b5e7e6e-7c1c-4b0e-9f3f-2f6f0a4b9c1d
  a2atap send http://127.0.0.1:7001/spec --list --history-length 1
`

const limitsTopic = `send, probe and replay limit the time and memory that an agent can use up. A call that reaches a
limit ends with a message that names the limit and its flag, and counts as failed. The defaults are far above what
agents usually send. --timeout limits the wait for an answer that is not a stream, including its body.

  a2atap send http://127.0.0.1:7001/spec 'streaming tell me more' --max-idle 4h --max-events 1000000
`

const scenariosTopic = `probe runs all scenarios that apply to the agent, over each interface that its card offers.
--only and --skip select by id, name, tag or agent, as listed by --list. A scenario passes or fails. It is skipped if it
does not apply to this agent, such as streaming for an agent without streams, and inconclusive if the agent's answer
does not decide it. An agent that stops answering is critical.

An agent with the skills of the reference agents gets their keywords. Any other agent gets the examples of its card
(--drive, --skill), the texts of --prompt, or texts that --profile-from finds in a capture.

With --client, probe tests a client: it plays agents, each with a different behavior or fault, and runs the command
after -- for each. In the command, {url}, {text} and {mode} stand for the agent's address, the text to send, and send or
stream; the variables A2ATAP_URL, A2ATAP_TEXT and A2ATAP_MODE have the same values. Without a command the addresses are
printed, and an interrupt ends the test. The report lists what a client should do, whether it did, and the findings
about its requests.

  a2atap probe http://127.0.0.1:9001 --only errors --skip 'rest/*'
  a2atap probe http://127.0.0.1:9001 --prompt 'task-cancel=count to a million' --binding jsonrpc
  a2atap probe --client -- python my_client.py {url} {text}
`

const agentsTopic = `With --card the agent serves the card in a file. Each skill of the card behaves like the reference
agent's skill with the same id, or with an id that is one of its tags, or else like task-lifecycle. A message that
begins with the id or name of a skill uses that skill. The card's capabilities apply too: streaming is optional, push
notifications need --push, and the card's security must match --auth. The agent writes its address into the card. It
rejects a card of another dialect, or one that promises something that the agent cannot do.

With --skill ID=PROGRAM a program implements a skill of that card. It is started for each message, reads the request as
a line of JSON, and writes a line for each state and each artifact (docs/agents.md).

With --binding the agent serves only these bindings. echo, spec and spec03… can also serve gRPC on the same port, over
HTTP/2 without TLS; the card then has its host and port.

With --tenant the agent serves only requests for these tenants. The card has interfaces for each. JSON-RPC requests name
the tenant in the member tenant; HTTP+JSON requests name it there, in the query, or before the path (/spec/NAME/tasks).

With --store tasks are kept in a file. After a restart, finished tasks can be read, tasks that wait for their client
continue, and tasks that were being worked on have failed with a message. Only one process at a time can use the file.
It contains the credentials of webhooks, so only its owner can read it.

  a2atap agent legacy --card travel.json --push
  a2atap agent spec --store tasks.db --listen 127.0.0.1:9001
  a2atap agent spec --binding grpc --binding jsonrpc --listen 127.0.0.1:9001
`
