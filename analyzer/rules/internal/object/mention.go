package object

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Mentions is the family of rules about references in a message or an artifact: extensions and other tasks.
var Mentions = rule.Family{
	Name:     "mention",
	Category: analysis.Lifecycle,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.4", a2a.V0_2, a2a.V0_3).And("4.1.4", a2a.V1_0),
	Either:   true,
	If:       analysis.HasMentions,
}.Of(
	msgExtensionsURI,
	msgReferenceTaskIDs,
)

var msgExtensionsURI = &analysis.Rule{
	ID:    "msg-extensions-uri",
	Title: "extensions of a message or artifact are not a list of URIs",
	Level: analysis.Must,
	Side:  a2a.Agent,
	On:    analysis.MessageSeen | analysis.ArtifactSeen,
	Cites: rule.Cite("6.4", a2a.V0_2, a2a.V0_3).And("6.7", a2a.V0_2, a2a.V0_3).And("4.1.4", a2a.V1_0).
		And("4.1.7", a2a.V1_0),
	Stands: "0.2.6:types:364 0.3.0:types:710 0.2.6:types:348 0.3.0:types:689 1.0.1:proto:273 1.0.1:proto:291",
	Doc: `A message or an artifact lists the URIs of the extensions that it uses. A receiver looks them up; if the
list has a name or an object, the lookup fails, or the receiver refuses the whole message.`,
	Fix:    `List the URIs exactly as the agent card has them, as strings.`,
	Silent: `Whether the card declares the extension. Only the first such entry in a list is reported.`,
	Check: func(p *analysis.Pass) {
		list := p.Entity.Member("extensions")
		if !list.Exists() {
			return
		}
		p.Applied()
		if list.Kind() != a2a.Array {
			p.Report(p.Here("extensions"), "extensions is "+analysis.Quote(list), "expected a list of URIs")
		}
		for i, v := range list.Elems() {
			if !hasScheme(v) {
				p.Report(element(p, "extensions", i), analysis.Quote(v)+" is not a URI", "expected the URI of an extension")
				return
			}
		}
	},
}

var msgReferenceTaskIDs = &analysis.Rule{
	ID:     "msg-reference-task-ids",
	Title:  "referenceTaskIds are not a list of task ids",
	Level:  analysis.Must,
	Side:   a2a.Client,
	On:     analysis.MessageSeen,
	Stands: "0.2.6:types:367 0.3.0:types:713 1.0.1:proto:276",
	Doc: `A message refers to other tasks by a list of their ids. If the list is a single string, typed agents refuse
it, or read it as a list of letters.`,
	Fix:    `Write a list of strings, each the id of another task.`,
	Silent: `Whether the tasks exist. If a message refers to its own task, the finding is a note.`,
	Check: func(p *analysis.Pass) {
		list := p.Entity.Member("referenceTaskIds")
		if !list.Exists() {
			return
		}
		p.Applied()
		if list.Kind() != a2a.Array {
			p.Report(p.Here("referenceTaskIds"), "referenceTaskIds is "+analysis.Quote(list), "expected a list of task ids")
			return
		}
		own := p.Entity.Member("taskId").Raw()
		for i, v := range list.Elems() {
			switch {
			case v.Kind() != a2a.String:
				p.Report(element(p, "referenceTaskIds", i), analysis.Quote(v)+" is not a task id", "expected a string")
				return
			case len(own) > 0 && string(own) == string(v.Raw()):
				p.Report(element(p, "referenceTaskIds", i), "the message refers to its own task "+analysis.Quote(v),
					"expected other tasks", analysis.AtMost(analysis.Note))
				return
			}
		}
	},
}
