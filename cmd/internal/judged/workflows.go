package judged

import (
	"a2atap/analyzer"
	"a2atap/analyzer/track/workflow"
)

// InWorkflow fills in to which workflow a finding belongs, when all exchanges are known.
func InWorkflow(links *workflow.Index, f *analyzer.Finding) {
	SoFar(links, f)
	f.Workflow.Others = f.Workflow.Number != 0 && links.Size(f.Workflow.Number) > 1
}

// SoFar does so while the recording goes on. That others follow from an exchange shows later only.
func SoFar(links *workflow.Index, f *analyzer.Finding) {
	if at := f.Place.Exchange; at != 0 {
		n := links.Of(at).Workflow
		f.Workflow = analyzer.Workflow{Number: n, Others: n != at}
	}
}
