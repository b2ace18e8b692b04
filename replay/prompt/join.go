package prompt

import (
	"encoding/json"

	"a2atap/proxy/jsondoc"
	"a2atap/replay/client"
)

// A joined is the combined events of a stream: the task as the agent sent it, or a message.
type joined struct {
	task    map[string]any
	state   client.State
	message *client.Message
	index   map[string]int // of the task's artifacts, by key; nil until it is needed
}

type progress int

const (
	notDone progress = iota
	waiting
	ended
)

func (j *joined) done() progress {
	switch {
	case j.state.Interrupted():
		return waiting
	case j.state.Terminal(), j.message != nil && j.task == nil:
		return ended
	}
	return notDone
}

func (j *joined) stateText() string {
	if j.state == "" {
		return "in an unknown state"
	}
	return string(j.state)
}

// add adds the next event. It ignores events after the end.
func (j *joined) add(e client.Event) error {
	switch {
	case j.done() == ended:
	case e.Message != nil:
		j.message = e.Message
	case e.Task != nil:
		now, err := object(e.Task.Raw)
		if err != nil {
			return err
		}
		for _, kept := range []string{"artifacts", "history"} { // a snapshot need not repeat them
			if now[kept] == nil && j.task[kept] != nil {
				now[kept] = j.task[kept]
			} else if kept == "artifacts" {
				j.index = nil
			}
		}
		j.task, j.state = now, e.Task.Status.State
	case e.Status != nil:
		update, err := object(e.Status.Raw)
		if err != nil {
			return err
		}
		j.begin(e.Status.TaskID, e.Status.ContextID)
		j.task["status"], j.state = update["status"], e.Status.Status.State
	case e.Artifact != nil:
		update, err := object(e.Artifact.Raw)
		if err != nil {
			return err
		}
		j.begin(e.Artifact.TaskID, e.Artifact.ContextID)
		artifact, _ := update["artifact"].(map[string]any)
		j.artifact(artifact, e.Artifact.Append)
	}
	return nil
}

// begin creates a task from an update, if none was shown before.
func (j *joined) begin(id, contextID string) {
	if j.task == nil {
		j.task = map[string]any{"id": id}
	}
	if contextID != "" && j.task["contextId"] == nil {
		j.task["contextId"] = contextID
	}
}

// artifact puts an artifact, or a chunk of one, in its place.
func (j *joined) artifact(now map[string]any, more bool) {
	if now == nil {
		return
	}
	list, _ := j.task["artifacts"].([]any)
	if j.index == nil {
		j.index = make(map[string]int)
		for i := range list {
			if was, _ := list[i].(map[string]any); was != nil {
				if _, earlier := j.index[key(was)]; !earlier {
					j.index[key(was)] = i
				}
			}
		}
	}
	i, known := j.index[key(now)]
	if !known {
		j.index[key(now)] = len(list)
		j.task["artifacts"] = append(list, now)
		return
	}
	if more {
		now = chunked(list[i].(map[string]any), now)
	}
	list[i] = now
}

// key distinguishes the artifacts of a task: by their id, or by their index, as 0.1 does.
func key(artifact map[string]any) string {
	id, ok := artifact["artifactId"]
	if !ok {
		id, ok = artifact["index"].(json.Number)
	}
	if !ok {
		return "0"
	}
	text, err := json.Marshal(id)
	if err != nil {
		return ""
	}
	return string(text)
}

// A growingText is text to which chunks are appended without copying the existing text.
type growingText struct{ text []byte }

// MarshalJSON implements json.Marshaler.
func (g *growingText) MarshalJSON() ([]byte, error) { return json.Marshal(string(g.text)) }

// chunked appends a chunk to an artifact. Text continues the text before it.
func chunked(was, now map[string]any) map[string]any {
	parts, _ := was["parts"].([]any)
	more, _ := now["parts"].([]any)
	if len(parts) > 0 && len(more) > 0 {
		last, _ := parts[len(parts)-1].(map[string]any)
		first, _ := more[0].(map[string]any)
		if after, ok := first["text"].(string); ok {
			switch before := last["text"].(type) {
			case string:
				last["text"], more = &growingText{append([]byte(before), after...)}, more[1:]
			case *growingText:
				before.text, more = append(before.text, after...), more[1:]
			}
		}
	}
	for name, value := range now {
		was[name] = value
	}
	was["parts"] = append(parts, more...)
	return was
}

// into puts the joined result into an answer.
func (j *joined) into(a *Answer) error {
	a.Message = j.message
	raw, err := json.Marshal(a.Events)
	if err != nil {
		return err
	}
	if a.Raw = raw; len(a.Events) == 0 {
		a.Raw = nil
	}
	if j.task == nil {
		return nil
	}
	text, err := json.Marshal(j.task)
	if err != nil {
		return err
	}
	a.Task, err = client.ReadTask(text)
	return err
}

// object reads a JSON object, with numbers as they are written.
func object(text []byte) (v map[string]any, err error) {
	err = jsondoc.Unmarshal(text, &v)
	return v, err
}
