package present

import (
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/notes"
)

// An Annotator adds to exported exchanges what the protocol knows about them, and what people noted. It implements
// jsonl.Annotator.
type Annotator struct {
	Reader *reading.Reader
	Notes  *notes.Notes // nil if there are none
}

// Annotate implements jsonl.Annotator.
func (a Annotator) Annotate(x *capture.Exchange) jsonl.Annotation {
	r := a.Reader.Read(x)
	out := jsonl.Annotation{
		Dialect: r.Dialects.String(), Binding: r.Call.Binding.String(),
		Task: r.Tasks, Context: r.Contexts, State: r.State(),
	}
	note := a.Notes.Of(x.Seq, x.ID)
	out.Marks, out.Comment = note.Marks(), note.Comment
	if r.Call.Operation != a2a.NoOperation {
		out.Operation = r.Call.Operation.String()
	}
	return out
}
