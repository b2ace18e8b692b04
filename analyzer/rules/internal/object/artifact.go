package object

import (
	"fmt"
	"unicode/utf8"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Artifacts is the family of rules about the shape of artifacts.
var Artifacts = rule.Family{
	Name:     "artifact",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.ArtifactSeen,
	Bindings: rule.OnAll,
}.Of(
	artifactIDPresent,
	artifactIDUnique,
	artifactPartsArray,
	artifactPartsNonempty,
	artifactIndex,
	outputInMessage,
)

var artifactIDPresent = &analysis.Rule{
	ID:     "artifact-id-present",
	Title:  "artifact without an artifactId",
	Level:  analysis.Must,
	Cites:  rule.Cite("6.7", a2a.V0_2, a2a.V0_3).And("4.1.7", a2a.V1_0),
	Stands: "0.2.6:types:337 0.3.0:types:678 1.0.1:proto:282",
	Doc: `By its id a client puts the pieces of an artifact together and replaces one that comes again. Without it every
piece is a new artifact, or typed clients refuse the event.`,
	Fix:    `Give each artifact of a task an id, and write it into every piece.`,
	Silent: `What the id looks like.`,
	Check: func(p *analysis.Pass) {
		requireText(p, "artifactId", analysis.Error)
	},
}

var artifactIDUnique = &analysis.Rule{
	ID:     "artifact-id-unique",
	Title:  "two artifacts of a task with one artifactId",
	Level:  analysis.Must,
	On:     analysis.SnapshotSeen,
	Cites:  rule.Cite("6.7", a2a.V0_2, a2a.V0_3).And("4.1.7", a2a.V1_0),
	Stands: "0.2.6:types:336 0.3.0:types:677 1.0.1:proto:281",
	Doc: `An id stands for one artifact of its task. Where two have the same one, a client that files them by id keeps only
the last: a result is lost.`,
	Fix: `Make an id for each artifact. Pieces of one artifact belong together in one list of parts, not side by side in
the task.`,
	Silent: `Artifacts of different tasks, pieces in events of a stream, and artifacts without an id, which another rule
reports.`,
	Check: func(p *analysis.Pass) {
		list := p.Entity.Member("artifacts")
		if !list.Elem(1).Exists() {
			return
		}
		p.Applied()
		const few = 24
		if list.Len() > few {
			findSameID(p, list)
			return
		}
		for i, artifact := range list.Elems() {
			id := artifact.Get("artifactId")
			if id.Kind() != a2a.String || id.Is("") {
				continue
			}
			for j, earlier := range list.Elems() {
				if j >= i {
					break
				}
				if other := earlier.Get("artifactId"); string(other.Raw()) == string(id.Raw()) {
					reportSameID(p, i, j, id)
					break
				}
			}
		}
	},
}

// findSameID does the same for long lists, in which comparing each with each would take too long.
func findSameID(p *analysis.Pass, list a2a.Value) {
	first := make(map[string]int)
	for i, artifact := range list.Elems() {
		id := artifact.Get("artifactId")
		if id.Kind() != a2a.String || id.Is("") {
			continue
		}
		if j, known := first[string(id.Raw())]; known {
			reportSameID(p, i, j, id)
		} else {
			first[string(id.Raw())] = i
		}
	}
}

func reportSameID(p *analysis.Pass, i, j int, id a2a.Value) {
	p.Report(element(p, "artifacts", i).In("artifactId"),
		fmt.Sprintf("artifact %d has the artifactId %s of artifact %d", i, analysis.Quote(id), j),
		"expected an id of its own")
}

var artifactPartsArray = &analysis.Rule{
	ID:     "artifact-parts-array",
	Title:  "parts of an artifact missing or not a list",
	Level:  analysis.Must,
	Cites:  rule.Cite("6.7", rule.Before1...).And("4.1.7", a2a.V1_0),
	Covers: []string{"unknown-field"},
	Stands: "0.1.0:616 0.2.6:types:342 0.3.0:types:683 1.0.1:proto:287",
	Doc: `What an artifact holds is in its parts, a list even if there is only one. Without it there is no result, and a
typed client refuses the task.`,
	Fix: `Write "parts" as a list of objects.`,
	Silent: `A list that is left out is a note in an event that says it is the last chunk, and before 1.0 over HTTP+JSON,
where it may be an empty one.`,
	Check: requirePartsList,
}

// isLastChunk reports whether what is at hand is an artifact whose event says that nothing more of it follows.
func isLastChunk(p *analysis.Pass) bool {
	e := p.Entity
	if e.Type != a2a.ArtifactEntity || e.Within != a2a.ArtifactUpdateEntity {
		return false
	}
	update := a2a.ArtifactUpdate{Value: e.Owner}
	last, _ := e.Owner.Get("last_chunk").Bool()
	return update.LastChunk() || e.Modern() && last
}

var artifactPartsNonempty = &analysis.Rule{
	ID:     "artifact-parts-nonempty",
	Title:  "artifact without any part",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("6.7", rule.Before1...).And("5.7", a2a.V1_0),
	Stands: "0.1.0:616 0.2.5:484 0.3.0:types:683 1.0.1:1263",
	Doc: `An artifact has at least one part. With none it is a result that says nothing, and clients that read the first
part fail.`,
	Fix: `Leave the artifact out until there is something in it. To close one, send the last piece with lastChunk.`,
	Silent: `In 0.3, whose text does not ask for a part, an event that says it is the last chunk. It is a note anywhere
else in 0.3, in such an event of another version, in 0.2 unless the card names a version up to 0.2.5, and before 1.0 over
HTTP+JSON.`,
	Check: func(p *analysis.Pass) {
		worst := analysis.Error
		if isLastChunk(p) {
			if p.Dialects.Has(a2a.V0_3) {
				return
			}
			worst = analysis.Note
		}
		requireParts(p, worst)
	},
}

var artifactIndex = &analysis.Rule{
	ID:       "artifact-index",
	Title:    "index of an artifact negative or not an integer",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.7", a2a.V0_1),
	Stands:   "0.1.0:647",
	Doc: `In 0.1 the index says which artifact of a task a piece belongs to. A client that finds no number there cannot put
the pieces together.`,
	Fix:    `Count the artifacts of a task from 0, and write the number as an integer.`,
	Silent: `An artifact without an index is number 0.`,
	Check: func(p *analysis.Pass) {
		index := p.Entity.Member("index")
		if !index.Exists() {
			return
		}
		p.Applied()
		if n, ok := index.Int(); !ok || n < 0 {
			p.Report(p.Here("index"), "index is "+analysis.Quote(index), "expected an integer from 0")
		}
	},
}

var outputInMessage = &analysis.Rule{
	ID:       "output-in-message",
	Title:    "completed task has its result in a message",
	Level:    analysis.Advice,
	Once:     analysis.PerEndpoint,
	On:       analysis.SnapshotSeen,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: rule.OnCall,
	Cites:    rule.Cite("6.1", a2a.V0_2, a2a.V0_3).And("3.7", a2a.V1_0),
	Stands:   "0.2.6:290 0.3.0:499 1.0.1:758",
	Doc: `Results of a task are artifacts; messages are for the conversation about it. A client that collects artifacts
finds none here, and messages need not be kept.`,
	Fix: `Put the result into an artifact. Keep the status message for words such as "done".`,
	Silent: `A status message of one short text, up to 40 characters. Tasks in events of a stream, whose artifacts come in
events of their own, and in lists, which leave artifacts out; 0.2 unless the card names 0.2.6. It is said once for each URL.`,
	Check: func(p *analysis.Pass) {
		switch p.Exchange.Call.Operation {
		case a2a.SendMessage, a2a.GetTask:
		default:
			return
		}
		task := a2a.Task{Value: p.Entity.Value}
		if p.Event != nil || p.Dialects.Has(a2a.V0_2) && !since0_2_6(p) || task.State() != a2a.Completed {
			return
		}
		p.Applied()
		if message := task.StatusMessage(); !task.Get("artifacts").Elem(0).Exists() && holdsResult(message.Parts()) {
			p.Report(p.Here("status", "message"), "the task is completed without artifacts, and its status message has content",
				"expected results as artifacts")
		}
	},
}

// holdsResult reports whether the parts of a status message are more than a word about the status.
func holdsResult(parts a2a.Parts) bool {
	const short = 40 // characters
	only := parts.Elem(0)
	return parts.Len() > 1 || only.Exists() &&
		(only.Get("text").Kind() != a2a.String || utf8.RuneCountInString(only.Get("text").Text()) > short)
}

// since0_2_6 reports whether the card of the endpoint says that 0.2.6 or 0.3 is spoken there, and no older version.
func since0_2_6(p *analysis.Pass) bool {
	versions := card.Of(p).Versions(p.Exchange)
	for _, v := range versions {
		if v < "0.2.6" || v == "0.2.9" { // which there never was
			return false
		}
	}
	return len(versions) > 0
}
