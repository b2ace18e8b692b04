package stream

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/artifact"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Chunks is the family of rules about artifacts that are sent in pieces.
var Chunks = rule.Family{
	Name:     "chunk",
	Category: analysis.Streaming,
	Side:     a2a.Agent,
	On:       analysis.EventSeen,
	Bindings: rule.OnCall,
	Cites:    citeChunks,
}.Of(
	streamChunkAppendKnown,
	streamChunkAfterLast,
	streamChunkIncomplete,
	streamArtifactConsistent,
)

// citeChunks are the sections about the pieces of an artifact.
var citeChunks = rule.Cite("6.7", a2a.V0_1).And("7.2.3", a2a.V0_2, a2a.V0_3).And("4.2.2", a2a.V1_0)

var streamChunkAppendKnown = &analysis.Rule{
	ID:     "stream-chunk-append-known",
	Title:  "piece is appended to an artifact that was never started",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{artifact.Tracker, task.Tracker},
	Stands: "0.1.0:625 0.2.6:types:241 0.3.0:types:551 1.0.1:proto:315",
	Doc: `An update with append:true adds to an artifact that was sent before. This stream, which created the task and
was seen from its beginning, has no earlier piece of the artifact. A client has nothing to add to, and drops the piece
or fails.`,
	Fix: `Send the first piece of every artifact with append false, or without append, and use the same artifactId for
all pieces.`,
	Silent: `Streams that continue a task or a context, subscriptions, and recordings that begin later, where the
first piece may not be visible; artifacts without an id; streams with more artifacts than a2atap remembers. In 0.1 the
client creates the task's id and the task may be older: there the finding is a warning.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		old := p.Dialects == a2a.Of(a2a.V0_1)
		u, ok := artifactUpdate(p)
		if !ok || !u.Append() || x.Call.TaskID != "" && !old || x.Stream.Gap || artifact.Of(p).Pieces(x).More ||
			!taskBegunHere(p, u.TaskID()) {
			return
		}
		p.Applied()
		if artifact.Of(p).Pieces(x).Of(u.Artifact()) == nil {
			p.Report(p.Place.At(p.Answer.Payload.Pointer),
				fmt.Sprintf("append is true, and artifact %s was not in the stream before", artifact.Name(u.Artifact())),
				"expected the first piece without append", analysis.AtMostIf(old, analysis.Warning))
		}
	},
}

// taskBegunHere reports whether the task of an event was certainly begun by the message that the stream answers.
func taskBegunHere(p *analysis.Pass, id string) bool {
	x := p.Exchange
	if x.Call.Operation != a2a.SendStreamingMessage || task.Of(p).Named(x) != nil || x.Call.ContextID != "" ||
		len(x.References()) > 0 {
		return false
	}
	known := task.Of(p).Get(x, id)
	return known == nil || known.NewIn(x)
}

// artifactUpdate returns the current artifact update, if it identifies its artifact.
func artifactUpdate(p *analysis.Pass) (u a2a.ArtifactUpdate, ok bool) {
	if p.Answer == nil || p.Answer.Payload.Kind != a2a.ArtifactPayload {
		return u, false
	}
	u = a2a.ArtifactUpdate{Value: p.Answer.Payload.Value}
	return u, artifact.Identified(u.Artifact())
}

var streamChunkAfterLast = &analysis.Rule{
	ID:     "stream-chunk-after-last",
	Title:  "piece follows the artifact's last piece",
	Level:  analysis.Should,
	Once:   analysis.PerExchange,
	Needs:  []*analysis.Tracker{artifact.Tracker},
	Stands: "0.1.0:632 0.2.6:types:243 0.3.0:types:553 1.0.1:proto:318",
	Doc: `lastChunk:true says that an artifact is complete. Clients then store or show it; a piece that is appended
later is lost, or creates a second, different result.`,
	Fix: `Set lastChunk only on the last piece, or send the whole artifact again without append.`,
	Silent: `Pieces in another stream of the task, which may repeat earlier pieces; replays of a 0.x resubscription;
artifacts without an id; streams with a gap. Only the first such event in a stream is reported.`,
	Check: func(p *analysis.Pass) {
		u, ok := artifactUpdate(p)
		if !ok || !u.Append() || mayRepeatEvents(p) || p.Exchange.Stream.Gap {
			return
		}
		before := artifact.Of(p).Pieces(p.Exchange).Of(u.Artifact())
		if before == nil {
			return
		}
		p.Applied()
		if before.Last > 0 {
			p.Report(p.Place.At(p.Answer.Payload.Pointer),
				fmt.Sprintf("a piece is appended to artifact %s, whose last piece was event %d", artifact.Name(u.Artifact()),
					before.Last),
				"expected nothing after lastChunk, or a new artifact without append")
		}
	},
}

// mayRepeatEvents reports whether the current stream may repeat events of earlier streams.
func mayRepeatEvents(p *analysis.Pass) bool {
	return p.Exchange.Call.Operation == a2a.SubscribeToTask && p.Dialects != a2a.Of(a2a.V1_0)
}

var streamChunkIncomplete = &analysis.Rule{
	ID:     "stream-chunk-incomplete",
	Title:  "task is completed although an artifact never got its last piece",
	Level:  analysis.Advice,
	Once:   analysis.PerExchange,
	Needs:  []*analysis.Tracker{artifact.Tracker, stream.Tracker},
	Stands: "0.1.0:632 0.2.6:types:243 0.3.0:types:553 1.0.1:proto:318",
	Doc: `An artifact was sent in pieces, and none was marked as the last before the task was completed. That is
allowed, but a client that waits for the mark before it shows the artifact waits forever.`,
	Fix: `Set lastChunk:true on the last piece of every artifact.`,
	Silent: `Artifacts that were sent in one piece, tasks that fail or are canceled, replays of a 0.x resubscription,
streams with a gap, and streams of the dialect before 0.1, which has no such mark. Only the first such artifact is
named.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if p.Answer == nil || s.Terminal > 0 || s.Gap || mayRepeatEvents(p) || p.Exchange.Call.Early {
			return
		}
		payload := p.Answer.Payload
		if payload.Kind != a2a.StatusPayload && payload.Kind != a2a.TaskPayload ||
			(a2a.Task{Value: payload.Value}).State() != a2a.Completed {
			return
		}
		if artifact.Of(p).Pieces(p.Exchange).Chunked() {
			p.Applied()
		}
		if open := artifact.Of(p).Pieces(p.Exchange).Unfinished(); open != nil {
			p.Report(p.Place.At(a2a.Ptr(payload.Pointer, "status", "state")),
				fmt.Sprintf("the artifact whose newest piece is event %d has no last piece", open.Newest),
				"expected lastChunk before the task is completed")
		}
	},
}

var streamArtifactConsistent = &analysis.Rule{
	ID:     "stream-artifact-consistent",
	Title:  "artifact of the finished task differs from what its stream sent",
	Level:  analysis.Advice,
	On:     analysis.TaskSeen,
	Needs:  []*analysis.Tracker{artifact.Tracker, card.Tracker, task.Tracker},
	Stands: "0.1.0:625 0.2.6:types:241 0.3.0:types:551 1.0.1:proto:315",
	Doc: `The stream sent an artifact from its first piece to the end of the task, and the finished task shows other
text or bytes for it. Clients that listened and clients that poll later have different results. The cause may be a
piece that was lost, sent twice or stored in the wrong order.`,
	Fix: `Store each piece as it is sent, under one lock per task, and append only if append is true.`,
	Silent: `How text is split into parts, data values, references to files, media types; artifacts that the stream
did not show from their beginning; clients that accept only some media types; other clients, credentials, extensions
and bindings; before 0.2.4, tasks that have received a message since. Agents may refine a result, so the finding is
only a note.`,
	Check: func(p *analysis.Pass) {
		t, ok := p.Snapshot()
		if !ok || t.Get("artifacts").Kind() != a2a.Array {
			return
		}
		sent := artifact.Of(p).StreamedOf(p.Observation)
		known := task.Of(p).Get(p.Exchange, p.Task.TaskID)
		if sent == nil || known != nil && !rule.StillEnded(p, known) {
			return
		}
		for i, a := range t.Artifacts() {
			content, ok := sent.Of(a)
			if !ok {
				continue
			}
			p.Applied()
			if !content.SameText(digest.ContentOf(a.Parts())) {
				p.Report(p.Place.At(a2a.Ptr(p.Place.Pointer, "artifacts", i)),
					fmt.Sprintf("artifact %s holds other text or bytes than the stream sent up to %s", artifact.Name(a), sent.Place),
					"expected the text and bytes that the stream sent")
				return
			}
		}
	},
}
