package prompt

import (
	"bytes"
	"encoding/json"

	"a2atap/replay/client"
)

// A joined is what the events of a stream amount to: the task in the words of the agent, or a message.
type joined struct {
	task    map[string]any
	state   client.State
	message *client.Message
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
		return "in no known state"
	}
	return string(j.state)
}

// add takes the next event. What comes after the end does not count.
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

// begin makes a task of what an update says, if none was shown before.
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
	list, _ := j.task["artifacts"].([]any)
	for i := range list {
		was, _ := list[i].(map[string]any)
		if was == nil || key(was) != key(now) {
			continue
		}
		if more {
			now = chunked(was, now)
		}
		list[i] = now
		return
	}
	j.task["artifacts"] = append(list, now)
}

// key tells artifacts of one task apart: by their id, or by their index, as 0.1 does.
func key(artifact map[string]any) any {
	if id, ok := artifact["artifactId"]; ok {
		return id
	}
	index, ok := artifact["index"].(json.Number)
	if !ok {
		index = "0"
	}
	return index
}

// chunked appends a chunk to an artifact. Text goes on where the text before it ended.
func chunked(was, now map[string]any) map[string]any {
	parts, _ := was["parts"].([]any)
	more, _ := now["parts"].([]any)
	if len(parts) > 0 && len(more) > 0 {
		last, _ := parts[len(parts)-1].(map[string]any)
		first, _ := more[0].(map[string]any)
		before, ok := last["text"].(string)
		after, also := first["text"].(string)
		if ok && also {
			last["text"], more = before+after, more[1:]
		}
	}
	for name, value := range now {
		was[name] = value
	}
	was["parts"] = append(parts, more...)
	return was
}

// into puts what was joined into an answer.
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
func object(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v map[string]any
	err := decoder.Decode(&v)
	return v, err
}
