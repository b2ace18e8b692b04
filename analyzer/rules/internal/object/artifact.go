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
	Doc: `Clients put the pieces of an artifact together by its id, and use the id to replace an artifact that is sent
again. Without it every piece becomes a new artifact, or typed clients refuse the event.`,
	Fix:    `Give each artifact of a task an id, and write the id into every piece.`,
	Silent: `The format of the id.`,
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
	Doc: `An artifactId identifies one artifact of its task. If two artifacts share an id, a client that stores them
by id keeps only the last: a result is lost.`,
	Fix: `Create an id for each artifact. Put the pieces of one artifact into one list of parts, not into several
artifacts.`,
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
		"expected a unique id")
}

var artifactPartsArray = &analysis.Rule{
	ID:     "artifact-parts-array",
	Title:  "parts of an artifact missing or not a list",
	Level:  analysis.Must,
	Cites:  rule.Cite("6.7", rule.Before1...).And("4.1.7", a2a.V1_0),
	Covers: []string{"unknown-field"},
	Stands: "0.1.0:616 0.2.6:types:342 0.3.0:types:683 1.0.1:proto:287",
	Doc: `The content of an artifact is in its parts, a list even if there is only one. Without the list there is no
result, and a typed client refuses the task.`,
	Fix: `Write "parts" as a list of objects.`,
	Silent: `A list that is left out is a note in an event with lastChunk, and, before 1.0, over HTTP+JSON, where a
missing list may mean an empty one.`,
	Check: requirePartsList,
}

// isLastChunk reports whether the current observation is an artifact whose event marks it as the last piece.
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
	Doc: `An artifact has at least one part. Without any it is an empty result, and clients that read the first part
fail.`,
	Fix: `Leave the artifact out until it has content. To close one, send the last piece with lastChunk.`,
	Silent: `Events with lastChunk in 0.3, whose text does not require a part. The finding is a note in other objects of
0.3, in events with lastChunk of another version, in 0.2 unless the card names a version up to 0.2.5, and before 1.0
over HTTP+JSON.`,
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
	Doc: `In 0.1 the index says which artifact of a task a piece belongs to. If the index is not a number, a client
cannot put the pieces together.`,
	Fix:    `Number the artifacts of a task from 0, and write the number as an integer.`,
	Silent: `A missing index, which means artifact 0.`,
	Check: func(p *analysis.Pass) {
		index := p.Entity.Member("index")
		if !index.Exists() {
			return
		}
		p.Applied()
		if n, ok := index.Int(); !ok || n < 0 {
			p.Report(p.Here("index"), "index is "+analysis.Quote(index), "expected an integer, 0 or more")
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
	Doc: `The results of a task are its artifacts; messages are for the conversation about it. A client that collects
artifacts finds none here, and messages need not be kept.`,
	Fix: `Put the result into an artifact. Use the status message for remarks such as "done".`,
	Silent: `A status message of one short text, up to 40 characters. Tasks in events of a stream, whose artifacts
come in separate events, and in lists, which leave artifacts out; 0.2 unless the card names 0.2.6. It is reported once
per URL.`,
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

// since0_2_6 reports whether the endpoint's card declares 0.2.6 or 0.3, and no older version.
func since0_2_6(p *analysis.Pass) bool {
	versions := card.Of(p).Versions(p.Exchange)
	for _, v := range versions {
		if v < "0.2.6" || v == "0.2.9" { // which there never was
			return false
		}
	}
	return len(versions) > 0
}
