package analysis_test

import (
	"context"
	"fmt"
	"log"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/open"
)

// namesContext is a rule of one's own: agents of this company say of each task in which context it is.
var namesContext = &analysis.Rule{
	ID:       "names-context",
	Title:    "a task without a context",
	Family:   "company",
	Category: analysis.Lifecycle,
	Level:    analysis.Should,
	Side:     a2a.Agent,
	On:       analysis.TaskSeen,
	Bindings: analysis.OnJSONRPC | analysis.OnHTTPJSON,
	Cites:    []a2a.Cite{{In: a2a.V1_0, Section: "4.1.1"}},
	Doc:      "Who follows a conversation needs to know which tasks belong to it.",
	Fix:      "Set contextId in each task.",
	Silent:   "Updates, which need not repeat it.",
	Check: func(p *analysis.Pass) {
		if !p.Task.Snapshot {
			return
		}
		p.Applied()
		if p.Task.ContextID == "" {
			p.Report(p.Task.ContextPlace(), "task "+analysis.QuoteText(p.Task.TaskID)+" has no contextId", "expected one")
		}
	},
}

// A rule of one's own is a value, and is run as those of the catalogue are.
func ExampleRule() {
	recorded, err := open.File("testdata/context.txtar")
	if err != nil {
		log.Fatal(err)
	}
	result, err := engine.Run(context.Background(), []*analysis.Rule{namesContext}, recorded, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Findings {
		fmt.Println(f.String())
	}
	// Output:
	// 1.response.body#/result/task/contextId: task "t1" has no contextId; expected one [names-context]
}
