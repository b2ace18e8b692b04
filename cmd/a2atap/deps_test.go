package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The arrows that must not be, and why. A pattern ends with /... for a package and all below it.
var forbidden = []struct{ from, to, why string }{
	{"a2atap/proxy/jsondoc", "a2atap/...", "the parse of a text is what the others share"},
	{"a2atap/proxy/safetext", "a2atap/...", "what is safe to look at does not depend on who shows it"},
	{"a2atap/proxy/grpc", "a2atap/...", "how a message is written does not depend on who reads it"}, // but see excepted
	{
		"a2atap/proxy/capture/credential", "a2atap/...",
		"redaction and rules share the names, and stand on nothing else together",
	},
	{"a2atap/proxy/capture", "a2atap/...", "what passed is a leaf: everybody stands on it"},
	{"a2atap/proxy/relay", "a2atap/...", "the wire knows bytes, and nothing of who watches or why"},
	{"a2atap/proxy/ca", "a2atap/...", "who signs knows hosts, and nothing of what is said to them"},
	{"a2atap/proxy/outbound", "a2atap/...", "who connects knows hosts, and nothing of what is said to them"},
	{"a2atap/proxy/a2a", "a2atap/...", "the protocol's words are a leaf: decoding depends on nobody's use of it"},
	{
		"a2atap/proxy/capture/...", "a2atap/proxy/a2a",
		"a capture keeps bytes; what they mean comes as keys and places from a describer",
	},
	{"a2atap/proxy/hostname", "a2atap/...", "the form of a host is what the others compare by"},
	{"a2atap/proxy/scheme", "a2atap/...", "what a program speaks shows in its first bytes"},
	{"a2atap/proxy/internal/process", "a2atap/...", "whose a socket is is a question to the system alone"},
	{"a2atap/proxy/budget", "a2atap/...", "limits do not depend on the reader"},
	{"a2atap/proxy/background", "a2atap/...", "giving way is the same for whoever does work that can wait"},
	{"a2atap/proxy/relay", "a2atap/proxy/background", "what is in the path of the traffic gives way to nobody"},
	{"a2atap/proxy/spelling", "a2atap/...", "the distance of two words knows nothing of what they mean"},
	{"a2atap/proxy/relay", "a2atap/proxy/jsondoc", "the wire knows bytes, and nothing of who watches or why"},
	{"a2atap/proxy/...", "a2atap/analyzer/...", "a rule that fails must not be able to touch traffic"},
	{"a2atap/proxy/internal/rawhead", "a2atap/proxy/relay", "the head of a message is bytes, whoever carries it"},
	{"a2atap/proxy/listener", "a2atap/proxy/capture/...", "where clients reach us has no part in what they say"},
	{"a2atap/proxy/internal/card", "a2atap/proxy/recording", "what is changed is told to whoever takes facts"},
	{"a2atap/proxy/recording", "a2atap/proxy/internal/card", "what is recorded was changed before"},
	{"a2atap/proxy/recording", "a2atap/proxy/webhook", "what is recorded was changed before"},
	{"a2atap/proxy/recording", "a2atap/proxy", "the proxy arranges its parts, and none of them knows it"},
	{"a2atap/proxy/webhook", "a2atap/proxy", "the proxy arranges its parts, and none of them knows it"},
	{"a2atap/proxy/stdio", "a2atap/proxy", "the proxy arranges its parts, and none of them knows it"},
	{"a2atap/proxy/forward", "a2atap/proxy", "the proxy arranges its parts, and none of them knows it"},
	{"a2atap/proxy/internal/...", "a2atap/proxy", "the proxy arranges its parts, and none of them knows it"},
	{"a2atap/proxy/listener", "a2atap/proxy", "the proxy arranges its parts, and none of them knows it"},
	{"a2atap/proxy/forward", "a2atap/proxy/webhook", "clients of the forward proxy have webhooks of their own"},
	{"a2atap/proxy/forward", "a2atap/proxy/internal/card", "a client that follows a card stays with its proxy"},
	{"a2atap/proxy", "a2atap/proxy/capture/bolt", "the proxy writes to a Sink, whichever that is"},
	{"a2atap/proxy", "a2atap/proxy/capture/redact", "the proxy writes to a Sink, whichever that is"},
	{"a2atap/proxy/recording", "a2atap/proxy/capture/bolt", "the recorder writes to a Sink, whichever that is"},
	{"a2atap/proxy/recording", "a2atap/proxy/capture/redact", "the recorder writes to a Sink, whichever that is"},
	{"a2atap/proxy", "a2atap/proxy/capture/open", "the proxy records, and reads no files"},
	{"a2atap/proxy", "a2atap/proxy/record", "the proxy writes to a Sink, whichever that is"},
	{"a2atap/proxy/record", "a2atap/proxy/capture/bolt", "what is recorded goes to a Sink, whichever that is"},
	{"a2atap/proxy/record", "a2atap/proxy/capture/open", "the proxy records, and reads no files"},
	{"a2atap/proxy", "a2atap/proxy/fleet", "what travels between machines is read from the capture, never from traffic"},
	{"a2atap/analyzer/...", "a2atap/proxy/fleet/...", "judging works on any Source"},
	{"a2atap/replay/...", "a2atap/proxy/fleet/...", "replay works on any Source"},
	{"a2atap/tui/...", "a2atap/proxy/fleet/...", "the inspector works on any Source"},
	{"a2atap/...", "a2atap/proxy/fleet/fleettest", "it runs servers and is for tests"},
	{"a2atap/proxy/...", "a2atap/tui/...", "recording must work without a screen"},
	{"a2atap/proxy/...", "a2atap/replay/...", "the proxy watches and never speaks for itself"},
	{"a2atap/analyzer/...", "a2atap/analyzer", "it is the face of what stands behind it"},
	{"a2atap/analyzer/analysis", "a2atap/analyzer/rules/...", "what a rule is does not depend on which there are"},
	{"a2atap/analyzer/analysis", "a2atap/analyzer/track/...", "what a tracker is does not depend on which there are"},
	{"a2atap/analyzer/analysis", "a2atap/analyzer/judgment", "what rules are written in knows nothing of what they come to"},
	{"a2atap/analyzer/analysis", "a2atap/analyzer/summary", "what rules are written in knows nothing of who prints"},
	{"a2atap/analyzer/analysis", "a2atap/analyzer/engine/...", "what rules are written in knows nothing of who runs them"},
	{"a2atap/analyzer/summary", "a2atap/analyzer/judgment", "an exchange is summed up without the others"},
	{"a2atap/analyzer/judgment", "a2atap/analyzer/engine/...", "what judging came to does not depend on who judged"},
	{"a2atap/analyzer/engine/internal/tally", "a2atap/analyzer/engine/...", "what is counted is given by whoever observes"},
	{
		"a2atap/analyzer/engine/internal/dispatch", "a2atap/analyzer/engine/internal/intake",
		"observations are given to rules, whoever made them",
	},
	{"a2atap/analyzer/engine/internal/...", "a2atap/analyzer/engine", "the engine arranges its parts, and none of them knows it"},
	{
		"a2atap/analyzer/engine/...", "a2atap/analyzer/rules/...",
		"the engine is given its rules; it must not know its catalogue",
	},
	{
		"a2atap/analyzer/engine/...", "a2atap/analyzer/track/...",
		"the engine gets trackers with the rules that need them; it knows none",
	},
	{"a2atap/analyzer/rules/...", "a2atap/analyzer/engine", "a rule does not depend on who runs it"}, // but see excepted
	{"a2atap/analyzer/track/...", "a2atap/analyzer/rules/...", "what remembers does not judge"},
	{"a2atap/analyzer/track/...", "a2atap/analyzer/report", "what remembers does not print"},
	{"a2atap/analyzer/internal/recent", "a2atap/...", "memory of bounded size knows nothing of what it holds"},
	{"a2atap/analyzer/internal/address", "a2atap/...", "the comparison of URLs is a leaf"},
	{"a2atap/analyzer/internal/digest", "a2atap/analyzer/...", "contents are told apart without knowing who compares them"},
	{"a2atap/analyzer/internal/directory", "a2atap/analyzer/analysis", "the engine, readers and trackers stand on it"},
	{"a2atap/analyzer/internal/cardfetch", "a2atap/analyzer/analysis", "the engine and readers stand on it"},
	{"a2atap/analyzer/analysis", "a2atap/analyzer/reading", "rules judge what the engine has read, in its order"},
	{"a2atap/analyzer/engine/internal/...", "a2atap/analyzer/reading", "rules judge what the engine has read, in its order"},
	{"a2atap/analyzer/rules/...", "a2atap/analyzer/reading", "rules judge what the engine has read, in its order"},
	{"a2atap/analyzer/report", "a2atap/analyzer/rules/...", "a report prints findings of any rules"},
	{"a2atap/analyzer/report/junit", "a2atap/...", "cases are written, whatever they are about"},
	{"a2atap/analyzer/report/exchanges", "a2atap/analyzer/report", "a part of a page knows no other part"},
	{"a2atap/analyzer/report/internal/svg", "a2atap/proxy/...", "what is drawn is plain data, whatever it stands for"},
	{"a2atap/analyzer/report/internal/svg", "a2atap/analyzer/sequence", "what is drawn is plain data, whatever it stands for"},
	{"a2atap/analyzer/sequence", "a2atap/analyzer/report/...", "what arrows there are does not depend on who draws them"},
	{"a2atap/analyzer/rules/internal/rule", "a2atap/analyzer/rules/...", "what the families share knows none of them"},
	{"a2atap/analyzer/...", "a2atap/proxy", "judging works on a capture from anywhere"},        // but see excepted
	{"a2atap/analyzer/...", "a2atap/proxy/record", "judging works on a capture from anywhere"}, // but see excepted
	{"a2atap/analyzer/...", "a2atap/proxy/relay", "judging works on a capture from anywhere"},
	{"a2atap/analyzer/...", "a2atap/proxy/capture/bolt", "judging works on any Source"},
	{"a2atap/analyzer/...", "a2atap/proxy/capture/open", "judging works on any Source"},
	{
		"a2atap/analyzer/...", "a2atap/proxy/capture/redact",
		"what was hidden was hidden before; judging only has to know it",
	},
	{"a2atap/analyzer/...", "a2atap/replay/...", "one reading of the protocol must not judge itself"},
	{"a2atap/analyzer/...", "a2atap/tui/...", "a judgment is drawn, and never draws"},
	{"a2atap/...", "a2atap/analyzer/analyzertest", "it registers a flag and is for tests, ours and other people's"},
	{"a2atap/...", "a2atap/replay/replaytest", "it is for tests, ours and other people's"},
	{"a2atap/replay/...", "a2atap/proxy/capture/bolt", "replay works on any Source"},
	{"a2atap/replay/...", "a2atap/proxy/capture/open", "replay works on any Source"},
	{"a2atap/replay/compare", "a2atap/replay", "what compares knows nothing of who plays"},
	{"a2atap/replay/compare", "a2atap/replay/client/...", "two recordings are compared without a network"},
	{"a2atap/replay/compare", "a2atap/replay/live", "two recordings are compared without a network"},
	{"a2atap/replay/diff", "a2atap/replay", "what compares knows nothing of who plays"},
	{"a2atap/replay/diff", "a2atap/replay/client/...", "two recordings are compared without a network"},
	{"a2atap/replay/diff", "a2atap/replay/live", "two recordings are compared without a network"},
	{"a2atap/replay/playback", "a2atap/replay", "who plays the agent knows nothing of who plays the client"},
	{"a2atap/replay/client", "a2atap/replay/client/fault", "a client is broken by whoever makes it"},
	{"a2atap/replay/probe", "a2atap/replay/probe/scenarios/...", "who asks is given the questions"},
	{
		"a2atap/replay/probe/scenarios/internal/scenario", "a2atap/replay/probe/scenarios/...",
		"what the families share knows none of them",
	},
	{"a2atap/...", "a2atap/replay/internal/agenttest", "it registers cleanups and is for tests"},
	{"a2atap/...", "a2atap/cmd/internal/cmdtest", "it is for tests"},
	{"a2atap/...", "a2atap/proxy/internal/childtest", "it is for tests"},
	{"a2atap/...", "a2atap/proxy/must", "it is for tests"},
	{"a2atap/...", "a2atap/analyzer/rulestest", "it is for tests"},
	{"a2atap/...", "a2atap/proxy/expect", "it is for tests"},
	{"a2atap/...", "a2atap/proxy/unreachable", "it is for tests"},
	{"a2atap/...", "a2atap/proxy/paralleltest", "it sets a flag and is for tests"},
	{
		"a2atap/replay/refagent/internal/jsonvalue", "a2atap/...",
		"JSON that is read and written knows nothing of what it says",
	},
	{
		"a2atap/replay/refagent/internal/model", "a2atap/replay/refagent/internal/dialect",
		"what there is does not depend on how it is written",
	},
	{
		"a2atap/replay/refagent/internal/model", "a2atap/replay/refagent/internal/engine",
		"what there is does not depend on who works on it",
	},
	{"a2atap/replay/refagent/internal/dialect", "a2atap/replay/refagent/internal/engine", "a dialect has no state"},
	{
		"a2atap/replay/refagent/internal/engine", "a2atap/replay/refagent/internal/wire",
		"the work knows nothing of HTTP requests",
	},
	{
		"a2atap/replay/refagent/internal/wire", "a2atap/replay/refagent/internal/fault",
		"a way has hooks, whoever hangs something there",
	},
	{"a2atap/replay/refagent/...", "a2atap/proxy/a2a", "the agents are a second reading of the protocol"},
	{"a2atap/replay/refagent", "a2atap/replay/refagent/filestore", "agents keep tasks in a Store, whichever that is"},
	{"a2atap/replay/refagent/filestore", "a2atap/...", "a file of tasks knows nothing of what is in them"},
	{"a2atap/replay/...", "a2atap/tui/...", "what plays is not what is looked at"},
	{"a2atap/replay/noise", "a2atap/replay/...", "what may differ is a question to JSON, whoever compares it"},
	{"a2atap/replay/noise", "a2atap/analyzer/...", "what may differ is a question to JSON, whoever compares it"},
	{"a2atap/replay/report", "a2atap/replay", "a report says what differs, whoever played"},
	{"a2atap/replay/report", "a2atap/replay/diff", "a report says what differs, whoever compared"},
	{"a2atap/replay/report", "a2atap/replay/client/...", "a report says what differs, whoever played"},
	{"a2atap/replay/report", "a2atap/replay/live", "a report says what differs, whoever played"},
	{"a2atap/replay/compare", "a2atap/replay/report", "what differs does not depend on who prints it"},
	{
		"a2atap/replay/internal/translate", "a2atap/replay/...",
		"what a request is in other words depends on nobody who sends it",
	},
	{"a2atap/replay/internal/translate", "a2atap/proxy/capture/...", "a call is translated, wherever it was recorded"},
	{"a2atap/replay/internal/translate", "a2atap/analyzer/...", "translating judges nothing"},
	{"a2atap/tui/...", "a2atap/proxy/capture/bolt", "the inspector works on any Source"},
	{"a2atap/tui/...", "a2atap/proxy/capture/open", "the inspector works on any Source"},
	{"a2atap/tui/...", "a2atap/proxy", "the inspector reads captures, also those of another process"},
	{"a2atap/tui/text", "a2atap/...", "what is safe on a terminal depends on nobody who writes there"},
	{"a2atap/tui/load", "a2atap/tui/...", "who reads the capture does not draw"},
	{"a2atap/tui/document", "a2atap/tui/internal/panel", "what an exchange looks like depends on no screen"},
	{"a2atap/tui/internal/chart", "a2atap/tui/load", "what is drawn is given, and never read"},
	{"a2atap/tui/print", "a2atap/tui/internal/panel", "commands print without a screen"},
	{"a2atap/...", "a2atap/tui/internal/tuitest", "it is for tests"},
	{"a2atap/proxy/...", "a2atap/cmd/...", "what commands share is for commands"},
	{"a2atap/analyzer/...", "a2atap/cmd/...", "what commands share is for commands"},
	{"a2atap/replay/...", "a2atap/cmd/...", "what commands share is for commands"},
	{"a2atap/tui/...", "a2atap/cmd/...", "what commands share is for commands"},
	{"a2atap/cmd/internal/source", "a2atap/cmd/internal/verdict", "what is opened need not be judged"},
	{"a2atap/cmd/internal/source", "a2atap/cmd/internal/present", "who opens does not print"},
	{"a2atap/cmd/internal/verdict", "a2atap/cmd/internal/present", "what judging comes to is printed by others"},
	{"a2atap/cmd/internal/present", "a2atap/cmd/internal/source", "who prints is given what there is to print"},
	{"a2atap/cmd/internal/recorder", "a2atap/cmd/internal/present", "who records tells a listener, whoever prints"},
	{"a2atap/cmd/internal/recorder", "a2atap/cmd/internal/inspector", "recording works without a screen"},
	{"a2atap/cmd/internal/recorder", "a2atap/cmd/internal/web", "recording works without a page"},
	{"a2atap/cmd/internal/verdict", "a2atap/cmd/internal/web", "following a capture is independent of the output"},
	{"a2atap/cmd/internal/cli", "a2atap/cmd/...", "environment and flags are what all other packages of commands stand on"},
	{"a2atap/...", "a2atap/replay/peers", "the official SDKs are peers in tests only: one reading must not judge itself"},
	{"a2atap/proxy/...", "net/http/httputil", "it cuts off answers of agents that answer at once"},
}

// The arrows that are there although a pattern forbids them, and why.
var excepted = []struct{ from, to, why string }{
	{"a2atap/cmd/internal/cmdtest", "a2atap/proxy/fleet/fleettest", "it is for tests, too"},
	{"a2atap/cmd/internal/cmdtest", "a2atap/proxy/must", "it is for tests, too"},
	{"a2atap/analyzer/rulestest", "a2atap/proxy/must", "it is for tests, too"},
	{"a2atap/proxy/fleet/fleettest", "a2atap/proxy/unreachable", "it is for tests, too"},
	{
		"a2atap/proxy/relay", "a2atap/proxy/relay/internal/inflow",
		"it is what the wires of HTTP/1.1 and HTTP/2 have in common",
	},
	{"a2atap/proxy/grpc", "a2atap/proxy/jsondoc", "messages are written from JSON that was parsed"},
	{"a2atap/proxy/grpc", "a2atap/proxy/budget", "reading a message has a bound like reading JSON"},
	{"a2atap/proxy/grpc", "a2atap/proxy/background", "long messages and other long texts are read one after another"},
	{"a2atap/proxy/jsondoc", "a2atap/proxy/budget", "all bounds are declared in one place"},
	{
		"a2atap/analyzer/rules/internal/gendocs", "a2atap/analyzer/engine",
		"it judges the transcripts that the pages of rules show",
	},
	{
		"a2atap/analyzer/analyzertest", "a2atap/proxy",
		"it is a harness on top of both: it records the traffic of a test, and then judges what was recorded",
	},
	{
		"a2atap/analyzer/analyzertest", "a2atap/proxy/record",
		"it is a harness on top of both: it records the traffic of a test, and then judges what was recorded",
	},
	{
		"a2atap/analyzer/analyzertest", "a2atap/proxy/capture/redact",
		"it records as the program does, and no secret of a test may stand in a capture that is kept",
	},
}

// captureRooms lists what each package beneath proxy/capture imports: the noun, and the packages named here. Arrows go
// downward only. A package that is not listed has no place yet.
var captureRooms = []captureRoom{
	{"notes", nil, "what people say of exchanges is beside every format, and in none"},
	{"filter", nil, "what is searched for does not depend on a format"},
	{"credential", nil, "which names say a secret is a vocabulary for redaction and rules alike"},
	{"redact", []string{"credential"}, "secrets are hidden before anybody writes, whatever the format"},
	{"transcript", nil, "a format knows the noun and no other format"},
	{"internal/exchangejson", nil, "what the formats in JSON share knows none of them"},
	{"har", []string{"internal/exchangejson"}, "a format knows the noun and no other format"},
	{"jsonl", []string{"internal/exchangejson"}, "a format knows the noun and no other format"},
	{
		"open",
		[]string{"transcript", "har", "jsonl", "internal/exchangejson"},
		"it reads what others wrote; our own captures are the store's",
	},
	{"merge", nil, "several captures become one, wherever they are kept"},
	{
		"bolt",
		[]string{
			"bolt/internal/layout", "bolt/internal/pages", "bolt/internal/segments", "bolt/internal/check",
			"bolt/internal/remote",
		},
		"the store keeps what it is given, redacted or not",
	},
	{
		"bolt/internal/remote",
		[]string{"bolt/internal/layout", "bolt/internal/pages", "bolt/internal/segments", "bolt/internal/check"},
		"who reads from outside the recorder cannot write what it records",
	},
	{
		"bolt/internal/check",
		[]string{"bolt/internal/layout", "bolt/internal/pages", "bolt/internal/segments"},
		"what is wrong with a file does not depend on who has it",
	},
	{
		"bolt/internal/segments",
		[]string{"bolt/internal/layout", "bolt/internal/pages"},
		"files are opened and read, whoever asks",
	},
	{"bolt/internal/pages", []string{"bolt/internal/layout"}, "pages are looked through before the database sees them"},
	{"bolt/internal/layout", nil, "the format of the files is a leaf"},
	{"capturetest", nil, "one suite for all Sources and Sinks knows none of them"},
}

type captureRoom struct {
	room string
	on   []string
	why  string
}

func TestCaptureRooms(t *testing.T) {
	t.Parallel()
	const noun = "a2atap/proxy/capture"
	rooms := 0
	for from, list := range ourImports(t) {
		name, beneath := strings.CutPrefix(from, noun+"/")
		if !beneath {
			continue
		}
		i := slices.IndexFunc(captureRooms, func(r captureRoom) bool { return r.room == name })
		if i < 0 {
			t.Errorf("%s is not among the rooms of %s", from, noun)
			continue
		}
		rooms++
		for _, to := range list {
			below, inside := strings.CutPrefix(to, noun+"/")
			ours := strings.HasPrefix(to, modulePrefix) && to != noun && !slices.Contains(shared, to)
			if ours && !(inside && slices.Contains(captureRooms[i].on, below)) {
				t.Errorf("%s imports %s: %s", from, to, captureRooms[i].why)
			}
		}
	}
	if rooms != len(captureRooms) {
		t.Errorf("%d rooms of %d are there", rooms, len(captureRooms))
	}
}

// shared are the leaves beneath the leaves: what a text parses to, which is made once and handed on, what a message of
// gRPC holds, the form of a host, texts that are safe to look at, and how much is read.
var shared = []string{
	"a2atap/proxy/jsondoc", "a2atap/proxy/hostname", "a2atap/proxy/background", "a2atap/proxy/spelling",
	"a2atap/proxy/safetext", "a2atap/proxy/grpc", "a2atap/proxy/budget", "a2atap/proxy/scheme",
}

func TestForbiddenArrows(t *testing.T) {
	t.Parallel()
	imports := ourImports(t)
	for _, e := range excepted {
		if !slices.Contains(imports[e.from], e.to) {
			t.Errorf("%s does not import %s: it needs no exception", e.from, e.to)
		}
	}
	for from, list := range imports {
		for _, to := range list {
			if slices.ContainsFunc(excepted, func(e struct{ from, to, why string }) bool { return e.from == from && e.to == to }) {
				continue
			}
			if slices.Contains(shared, to) && !slices.Contains(shared, from) &&
				(from != "a2atap/proxy/relay" || to != "a2atap/proxy/jsondoc") {
				continue
			}
			for _, arrow := range forbidden {
				if matches(arrow.from, from) && matches(arrow.to, to) && from != to {
					t.Errorf("%s imports %s: %s", from, to, arrow.why)
				}
			}
		}
	}
}

// A family of rules imports the engine, the protocol's vocabulary and what families share, but no other family: code
// that two families need is moved down.
func TestFamiliesStandAlone(t *testing.T) {
	const under = "a2atap/analyzer/rules/internal/"
	allowed := []string{
		"a2atap/analyzer/analysis", "a2atap/analyzer/internal/address", "a2atap/analyzer/internal/digest", "a2atap/analyzer/jws",
		"a2atap/analyzer/track/...", "a2atap/proxy/a2a", "a2atap/proxy/capture", "a2atap/proxy/capture/credential",
		"a2atap/proxy/grpc", "a2atap/proxy/hostname", "a2atap/proxy/scheme", "a2atap/proxy/spelling", under + "rule",
	}
	families := 0
	for from, list := range ourImports(t) {
		name, ok := strings.CutPrefix(from, under)
		if !ok || name == "rule" || name == "gendocs" || name == "mutation" {
			continue
		}
		families++
		for _, to := range list {
			fits := func(pattern string) bool { return matches(pattern, to) }
			if strings.HasPrefix(to, modulePrefix) && !slices.ContainsFunc(allowed, fits) {
				t.Errorf("%s imports %s: a family stands on %s", from, to, strings.Join(allowed, ", "))
			}
		}
	}
	if families == 0 {
		t.Fatal("there are no families")
	}
}

// Main is a switchboard: a file for each command, which has its help and its flags and makes one call. What a command does
// is in a package below cmd/internal, none of which has more files than one can keep in mind.
func TestMainIsASwitchboard(t *testing.T) {
	const mostLines, mostFiles = 4000, 40
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(text), "\n")
	}
	if lines == 0 || lines > mostLines {
		t.Errorf("main has %d lines, and may have %d", lines, mostLines)
	}
	folders, err := filepath.Glob("../internal/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d packages below cmd/internal, %v", len(folders), err)
	}
	for _, folder := range folders {
		if files, err := filepath.Glob(filepath.Join(folder, "*.go")); err != nil || len(files) > mostFiles {
			t.Errorf("%s has %d files, and may have %d: %v", folder, len(files), mostFiles, err)
		}
	}
}

// The official SDKs must not be behind the program, not even by detour.
func TestSDKsAreNotLinked(t *testing.T) {
	t.Parallel()
	for dep := range linked(t) {
		if strings.HasPrefix(dep, "github.com/a2aproject/") || strings.HasPrefix(dep, "a2atap/replay/peers") {
			t.Errorf("the program links %s; the SDKs are peers in tests only", dep)
		}
		if strings.HasPrefix(dep, "github.com/nats-io/nats-server/") {
			t.Errorf("the program links %s; the server is a program of its own", dep)
		}
	}
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == prefix || strings.HasPrefix(name, prefix+"/")
	}
	return path.Clean(pattern) == name
}
