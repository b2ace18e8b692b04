package object

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Updates is the family of rules about the shape of the events that tell of a task's status and artifacts.
var Updates = rule.Family{
	Name:     "update",
	Category: analysis.Streaming,
	Side:     a2a.Agent,
	On:       analysis.UpdateSeen,
	Bindings: rule.OnAll,
}.Of(
	eventKind,
	eventIDs,
	eventIDV01,
	eventStatus,
	eventArtifact,
	eventFinalType,
	eventFlagsType,
)

var eventKind = &analysis.Rule{
	ID:       "event-kind",
	Title:    "event without a known kind",
	Level:    analysis.Must,
	On:       analysis.EventSeen | analysis.ForeignSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.2", a2a.V0_2, a2a.V0_3),
	Covers:   []string{"version-semantics-mixed", "field-type", "result-object"},
	Stands:   "0.2.6:types:812 0.3.0:types:1032",
	Doc: `A stream carries four kinds of objects, and "kind" tells clients which is which. If an event has no kind or
an unknown one, clients drop it or stop reading. The same happens if the event is not an object, or has the form of
another version.`,
	Fix: `Write "kind" into every result of a stream: "task", "message", "status-update" or "artifact-update".`,
	Silent: `Errors; null, which another rule reports; streams in which every event has the form of another version,
which other rules cover.`,
	Check: func(p *analysis.Pass) {
		if p.Answer == nil || !p.Answer.IsEnvelope || p.Answer.Err != nil || !p.Exchange.Call.Streams {
			return
		}
		result := p.Answer.Result
		if p.Kind == analysis.ForeignSeen {
			if turnsForeign(p) && !isKind(result.Get("kind")) {
				p.Report(p.Place.At(p.Answer.Payload.Pointer), "the event is in "+p.Answer.Payload.Dialects.String(), expectedKind,
					analysis.ForIf(!result.Has("kind"), analysis.KindOmitted))
			}
			return
		}
		if !rule.Given(result) || p.Answer.Payload.Wrapped { // which send-result-type reports
			return
		}
		p.Applied()
		kind := result.Get("kind")
		switch {
		case isKind(kind):
		case result.Kind() != a2a.Object:
			p.Report(p.Place.At("/result"), "the event is "+analysis.Quote(result), expectedKind)
		case kind.Exists():
			p.Report(p.Place.At("/result/kind"), "kind is "+analysis.Quote(kind), expectedKind)
		default:
			p.Report(p.Place.At("/result"), "the event has no kind", expectedKind, analysis.For(analysis.KindOmitted))
		}
	},
}

// isKind reports whether a value names a kind of event.
func isKind(v a2a.Value) bool {
	return v.Is("task") || v.Is("message") || v.Is("status-update") || v.Is("artifact-update")
}

const expectedKind = `expected "task", "message", "status-update" or "artifact-update"`

// turnsForeign reports whether the current event is the first of its stream in another dialect, after events in the
// dialect of the request. If the first event is foreign, the version is at fault, and not the event.
func turnsForeign(p *analysis.Pass) bool {
	so := p.Exchange.Stream.Dialects
	return !so.Empty() && !so.Intersect(p.Exchange.Dialects).Empty()
}

var eventIDs = &analysis.Rule{
	ID:    "event-ids",
	Once:  analysis.PerCause,
	Title: "update without taskId or contextId",
	Level: analysis.Must,
	Cites: rule.Cite("7.2.2", a2a.V0_2, a2a.V0_3).And("7.2.3", a2a.V0_2, a2a.V0_3).And("4.2.1", a2a.V1_0).
		And("4.2.2", a2a.V1_0),
	Stands: "0.2.6:types:214 0.3.0:types:521 0.2.6:types:234 0.3.0:types:544 1.0.1:proto:298 1.0.1:proto:310",
	Doc: `An update names its task and the task's context. Without these ids a client that follows several tasks
cannot tell where the update belongs, and typed clients refuse the event.`,
	Fix: `Write taskId and contextId into every update.`,
	Silent: `Which task and context they name. In 1.0 a missing contextId is a warning: an example of the
specification omits it.
Between the same two programs only the first of those that differ only in numbers is reported, with their number.`,
	Check: func(p *analysis.Pass) {
		requireText(p, "taskId", analysis.Error)
		worst := analysis.Error
		if p.Entity.Modern() {
			worst = analysis.Warning
		}
		requireText(p, "contextId", worst)
	},
}

var eventIDV01 = &analysis.Rule{
	ID:       "event-id-v01",
	Once:     analysis.PerCause,
	Title:    "update of 0.1 without an id",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.2.2", a2a.V0_1).And("7.2.3", a2a.V0_1),
	Stands:   "0.1.0:869 0.1.0:899",
	Doc: `In 0.1 an update names its task with "id". Without it a client that follows several tasks cannot tell where
the update belongs.`,
	Fix: `Write the task's id as "id" into every update.`,
	Silent: `Which task it names.
Between the same two programs only the first of those that differ only in numbers is reported, with their number.`,
	Check: func(p *analysis.Pass) {
		requireText(p, "id", analysis.Error)
	},
}

var eventStatus = &analysis.Rule{
	ID:     "event-status",
	Title:  "status update without a state",
	Level:  analysis.Must,
	Cites:  rule.Cite("7.2.2", rule.Before1...).And("4.2.1", a2a.V1_0),
	Stands: "0.1.0:873 0.2.6:types:220 0.3.0:types:527 1.0.1:proto:302",
	Doc: `A status update reports the state of the task. Without it the client does not know whether to continue
listening, to ask its user, or to stop.`,
	Fix:    `Write "status" with "state" into every status update, even if only the message is new.`,
	Silent: `Before 1.0, over HTTP+JSON, a missing state is a note: proto JSON leaves out the state unknown.`,
	Check: func(p *analysis.Pass) {
		if p.Entity.Type == a2a.StatusUpdateEntity {
			requireState(p)
		}
	},
}

var eventArtifact = &analysis.Rule{
	ID:     "event-artifact",
	Title:  "artifact update without an artifact",
	Level:  analysis.Must,
	Cites:  rule.Cite("7.2.3", rule.Before1...).And("4.2.2", a2a.V1_0),
	Stands: "0.1.0:905 0.2.6:types:240 0.3.0:types:550 1.0.1:proto:314",
	Doc: `An artifact update carries an artifact or a piece of one. Without it there is nothing to add, and the client
does not even know which artifact is meant.`,
	Fix:    `Write "artifact" as an object, even in the event that closes it.`,
	Silent: `The contents of the artifact.`,
	Check: func(p *analysis.Pass) {
		if p.Entity.Type != a2a.ArtifactUpdateEntity {
			return
		}
		p.Applied()
		switch v := p.Entity.Member("artifact"); {
		case !v.Exists():
			p.Report(p.Here(), "artifact is missing", "expected an artifact")
		case v.Kind() != a2a.Object:
			p.Report(p.Here("artifact"), "artifact is "+analysis.Quote(v), "expected an object")
		}
	},
}

var eventFinalType = &analysis.Rule{
	ID:       "event-final-type",
	Title:    "final of a status update is missing or not a boolean",
	Level:    analysis.Must,
	Once:     analysis.PerExchange,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.2.2", rule.Before1...),
	Covers:   []string{"field-type"},
	Stands:   "0.1.0:890 0.2.6:types:222 0.3.0:types:529",
	Doc: `"final" tells a client that no more events will come. If it is a text instead of true, typed clients refuse
it, or read it as true even if it says "false".`,
	Fix: `Write "final":true in the last event and "final":false in the others, without quotes.`,
	Silent: `0.1, where it is optional. If the card names a version up to 0.2.5, whose text makes it optional and
whose schema does not, a missing one is a note. Only the first such event in a stream is reported.`,
	Check: func(p *analysis.Pass) {
		if p.Entity.Type != a2a.StatusUpdateEntity {
			return
		}
		p.Applied()
		v := p.Entity.Member("final")
		switch {
		case v.Exists() && v.Kind() != a2a.Bool:
			p.Report(p.Here("final"), "final is "+analysis.Quote(v), "expected true or false")
		case !v.Exists() && !p.Dialects.Has(a2a.V0_1):
			p.Report(p.Here(), "final is missing", "expected true or false",
				analysis.AtMostIf(rule.Before0_2_6(p), analysis.Note))
		}
	},
}

var eventFlagsType = &analysis.Rule{
	ID:     "event-flags-type",
	Title:  "append or lastChunk is not a boolean",
	Level:  analysis.Must,
	On:     analysis.UpdateSeen | analysis.ArtifactSeen,
	Cites:  rule.Cite("6.7", a2a.V0_1).And("7.2.3", a2a.V0_2, a2a.V0_3).And("4.2.2", a2a.V1_0),
	Stands: "0.1.0:648 0.2.6:types:241 0.3.0:types:551 1.0.1:proto:315",
	Doc: `The flags say how to put the pieces of an artifact together. If one is a text instead of true, typed clients
refuse it, or read it as true even if it says "false": the artifact comes out wrong.`,
	Fix:    `Write true or false without quotes, or leave the member out for false.`,
	Silent: `Flags that are missing or null. 0.1 has them inside the artifact.`,
	Check: func(p *analysis.Pass) {
		if p.Entity.Type == a2a.ArtifactEntity && !p.Dialects.Has(a2a.V0_1) || p.Entity.Type == a2a.StatusUpdateEntity {
			return
		}
		for _, name := range [...]string{"append", "lastChunk"} {
			v := p.Entity.Member(name)
			if !v.Exists() {
				continue
			}
			p.Applied()
			if v.Kind() != a2a.Bool {
				p.Report(p.Here(name), name+" is "+analysis.Quote(v), "expected true or false")
			}
		}
	},
}
